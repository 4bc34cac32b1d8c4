import { Fault, type FieldErrors, isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Log } from "@tessera/kit/telemetry/log";
import type { ApplyRecordsRequest, ApplyRecordsResponse } from "@tessera/protos/gen/ticketing/records/v1/records";
import { type Applied, applyRun } from "./apply-run.ts";
import type { KnownScope, RecordKind, RecordOwner, SentFile } from "./kind.ts";
import { compileBatchReader, splitRecords, toResponse } from "./read-batch.ts";
import type { Readable } from "./read-record.ts";

export interface RecordStores {
  readonly db: Db;
  readonly files: Files;
  readonly log: Log;
}

export type ApplyRecords = (request: ApplyRecordsRequest, stores: RecordStores) => Promise<ApplyRecordsResponse>;

/** A store answers in milliseconds; there is no reason to wait for a hundred small files one after the other. */
const putAtOnce = 8;

/**
 * Makes the function that applies records of an owner in their order, in one transaction unless a removal must be
 * committed first.
 *
 * A record is stored without its wrong parts, and one that cannot do without them is rejected. If storing fails, each record gets its own transaction, so that only
 * the failing ones are rejected. Transient failures are thrown: the caller retries the batch, and a repeated record
 * changes nothing.
 */
export function applyRecordsOf<Mentioned, Known extends KnownScope>(
  owner: RecordOwner<Mentioned, Known>,
): ApplyRecords {
  type Read = Readable<RecordKind<unknown, Mentioned, Known>>;
  type Outcome = Applied<Read>;
  const readBatch = compileBatchReader(owner.kinds);

  return async ({ records }, { db, files, log }) => {
    const { examined, errors, unknownKeys } = await readBatch(records);
    await putFiles(examined, files);
    const stored: Read[] = [];
    for (const part of splitBehindRemovals(examined)) {
      const { refused, taken } = await applyAll(part, { db, log });
      for (const [record, reasons] of refused) errors.set(record.sent, reasons);
      stored.push(...taken.values());
    }
    await removeFiles({ sent: examined, stored }, { files, log });
    return toResponse(records, { errors, taken: stored, unknownKeys });
  };

  async function applyAll(records: readonly Read[], { db, log }: Omit<RecordStores, "files">): Promise<Outcome> {
    if (records.length === 0) return { refused: new Map(), taken: new Map() };
    try {
      return await db.transaction((tx) => applyBatch(tx, records));
    } catch (error) {
      if (isTransient(error)) throw error;
      log.warn("a batch of records could not be stored; its records follow one by one", { error });
      return applySingly(records, { db, log });
    }
  }

  async function applySingly(records: readonly Read[], { db, log }: Omit<RecordStores, "files">): Promise<Outcome> {
    const refused = new Map<Read, FieldErrors>();
    const taken = new Map<Read, Read>();
    for (const record of records) {
      try {
        const outcome = await db.transaction((tx) => applyBatch(tx, [record]));
        for (const [sent, errors] of outcome.refused) refused.set(sent, errors);
        for (const [sent, stored] of outcome.taken) taken.set(sent, stored);
      } catch (error) {
        if (isTransient(error)) throw error;
        log.error("a record could not be stored", { line: record.sent.line, kind: record.sent.kind, error });
        const reason = error instanceof Fault ? `: ${error.message}` : "";
        refused.set(record, { non_field_errors: [`The record could not be stored${reason}.`] });
      }
    }
    return { refused, taken };
  }

  async function applyBatch(tx: Tx, records: readonly Read[]): Promise<Outcome> {
    await owner.lock(tx, records);
    const refused = new Map<Read, FieldErrors>();
    const taken = new Map<Read, Read>();
    for (const run of splitRecords(records)) {
      const outcome = await applyRun(tx, run, owner);
      for (const [record, errors] of outcome.refused) refused.set(record, errors);
      for (const [record, stored] of outcome.taken) taken.set(record, stored);
    }
    for (const run of splitRecords(lastRemovals(taken.keys()))) await applyRun(tx, run, owner);
    return { refused, taken };
  }
}

/**
 * Stores the files of records before a row refers to them, so no row lacks its bytes. A process that is killed here leaves bytes
 * without a row, which a job deletes.
 */
async function putFiles(records: readonly Readable<AnyKind>[], files: Files): Promise<void> {
  const sent = filesOf(records);
  for (let at = 0; at < sent.length; at += putAtOnce) {
    const puts = sent
      .slice(at, at + putAtOnce)
      .map(({ key, content, contentType }) => files.put(key, content, { contentType }));
    await Promise.all(puts);
  }
}

/**
 * Removes the files of refused records and of left-out parts, because these may hold erased data. A job deletes what
 * cannot be removed now.
 */
async function removeFiles(
  { sent, stored }: { readonly sent: readonly Readable<AnyKind>[]; readonly stored: readonly Readable<AnyKind>[] },
  { files, log }: Omit<RecordStores, "db">,
): Promise<void> {
  const put = filesOf(sent);
  if (put.length === 0) return;
  const kept = new Set(filesOf(stored).map(({ key }) => key));
  const keys = put.flatMap(({ key }) => (kept.has(key) ? [] : [key]));
  if (keys.length === 0) return;
  await files.remove(keys).catch((error: unknown) => {
    log.warn("files of refused records stay for an hour: they could not be removed", { files: keys.length, error });
  });
}

function filesOf(records: readonly Readable<AnyKind>[]): SentFile[] {
  return records.flatMap(({ kind, scope, removal, value }) =>
    removal ? [] : Array.from(kind.filesOf?.(value, scope) ?? []),
  );
}

function splitBehindRemovals<R extends Readable<{ readonly commitsRemoval?: boolean }>>(records: readonly R[]): R[][] {
  const parts: R[][] = [[]];
  for (const record of records) {
    parts.at(-1)?.push(record);
    if (record.removal && record.kind.commitsRemoval === true) parts.push([]);
  }
  return parts;
}

/** The removals that no later record of the key follows, of kinds with parts that may move: they remove the parts that did not move. */
function lastRemovals<R extends Readable<Pick<RecordKind<unknown, never, unknown>, "name" | "partsOf">>>(
  taken: Iterable<R>,
): R[] {
  const last = new Map<string, R>();
  for (const record of taken)
    if (record.kind.partsOf !== undefined)
      last.set(JSON.stringify([record.kind.name, record.scope, record.key]), record);
  return [...last.values()].filter(({ removal }) => removal);
}

type AnyKind = Pick<RecordKind<unknown, unknown, unknown>, "filesOf">;
