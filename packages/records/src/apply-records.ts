import { setImmediate } from "node:timers/promises";
import { Fault, type FieldErrors, isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Log } from "@tessera/kit/log";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  ApplyRecordsRequest,
  ApplyRecordsResponse,
  Record as SentRecord,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import { WrongFields } from "@tessera/schema/wrong-fields";
import { applyRun, checkRest } from "./apply-run.ts";
import { examineFiles } from "./examine-files.ts";
import type { KnownScope, RecordKind, RecordOwner, SentFile } from "./kind.ts";
import { compileRecordReader, type Readable } from "./read-record.ts";
import { splitRuns } from "./split-runs.ts";
import { UnknownKeys } from "./unknown-keys.ts";

export interface RecordStores {
  readonly db: Db;
  readonly files: Files;
  readonly log: Log;
}

export type ApplyRecords = (request: ApplyRecordsRequest, stores: RecordStores) => Promise<ApplyRecordsResponse>;

/** Reading a batch takes tens of milliseconds. Other calls and batches run in between. */
const recordsPerTurn = 20;

/** Of more wrong records in one batch, what they refer to is not looked up: an import tells of a thousand. */
const mostChecked = 100;

/** A store answers in milliseconds; there is no reason to wait for a hundred small files one after the other. */
const putAtOnce = 8;

/**
 * Makes the function that applies records of an owner in their order, in one transaction unless a removal must be
 * committed first.
 *
 * A wrong record is rejected, the others are stored. If storing fails, each record gets its own transaction, so that only
 * the failing ones are rejected. Transient failures are thrown: the caller retries the batch, and a repeated record
 * changes nothing.
 */
export function applyRecordsOf<Mentioned, Known extends KnownScope>(
  owner: RecordOwner<Mentioned, Known>,
): ApplyRecords {
  type Read = Readable<RecordKind<unknown, Mentioned, Known>>;
  type Refused = Map<Read, FieldErrors>;
  const readRecord = compileRecordReader(owner.kinds);

  return async ({ records }, { db, files, log }) => {
    const errors = new Map<SentRecord, FieldErrors>();
    const unknownKeys = new UnknownKeys();
    const readable: Read[] = [];
    const rests: Read[] = [];
    for (const [index, sent] of records.entries()) {
      if (index % recordsPerTurn === recordsPerTurn - 1) await setImmediate();
      const read = readRecord(sent, unknownKeys);
      if (read.ok) readable.push(read.value);
      else {
        errors.set(sent, read.errors);
        if (read.rest !== undefined && rests.length < mostChecked) rests.push(read.rest);
      }
    }
    const examined = await examineFiles(readable);
    await putFiles(examined, files);
    for (const part of splitBehindRemovals(examined)) {
      for (const [record, refused] of await applyAll(part, { db, log })) errors.set(record.sent, refused);
    }
    await removeFiles(
      examined.filter(({ sent }) => errors.has(sent)),
      { files, log },
    );
    for (const rest of await examineFiles(rests)) {
      const wrong = new WrongFields(errors.get(rest.sent) ?? {});
      wrong.add(await findMore(rest, { db, log }));
      errors.set(rest.sent, wrong.toErrors());
    }
    return { rejected: records.flatMap((sent) => toRejected(sent, errors.get(sent))), ...unknownKeys.toIgnored() };
  };

  /** What is wrong with a record besides its wrong fields. It is refused anyway, so a failure here changes nothing. */
  async function findMore(rest: Read, { db, log }: Omit<RecordStores, "files">): Promise<FieldErrors> {
    try {
      return await db.transaction((tx) => checkRest(tx, rest, owner));
    } catch (error) {
      if (isTransient(error)) throw error;
      const { line, kind } = rest.sent;
      log.warn("what a wrong record refers to could not be checked", { line, kind, error });
      return {};
    }
  }

  async function applyAll(records: readonly Read[], { db, log }: Omit<RecordStores, "files">): Promise<Refused> {
    if (records.length === 0) return new Map();
    try {
      return await db.transaction((tx) => applyBatch(tx, records));
    } catch (error) {
      if (isTransient(error)) throw error;
      log.warn("a batch of records could not be stored; its records follow one by one", { error });
      return applySingly(records, { db, log });
    }
  }

  async function applySingly(records: readonly Read[], { db, log }: Omit<RecordStores, "files">): Promise<Refused> {
    const refused: Refused = new Map();
    for (const record of records) {
      try {
        for (const [key, errors] of await db.transaction((tx) => applyBatch(tx, [record]))) refused.set(key, errors);
      } catch (error) {
        if (isTransient(error)) throw error;
        log.error("a record could not be stored", { line: record.sent.line, kind: record.sent.kind, error });
        const reason = error instanceof Fault ? `: ${error.message}` : "";
        refused.set(record, { non_field_errors: [`The record could not be stored${reason}.`] });
      }
    }
    return refused;
  }

  async function applyBatch(tx: Tx, records: readonly Read[]): Promise<Refused> {
    await owner.lock(tx, records);
    const refused: Refused = new Map();
    for (const run of splitRuns(records, { group: groupOf, key: ({ key }) => key })) {
      for (const [record, errors] of await applyRun(tx, run, owner)) refused.set(record, errors);
    }
    await owner.raiseIds?.(tx, highestIds(records.filter((record) => !refused.has(record))));
    return refused;
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

/** Removes the files of refused records: what they hold may be erased data. A job deletes what cannot be removed now. */
async function removeFiles(
  records: readonly Readable<AnyKind>[],
  { files, log }: Omit<RecordStores, "db">,
): Promise<void> {
  const keys = filesOf(records).map(({ key }) => key);
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

type AnyKind = Pick<RecordKind<unknown, unknown, unknown>, "filesOf" | "idsOf">;

function groupOf({ sent, scope, removal }: Readable<unknown>): string {
  return [sent.kind, removal, scope.organizer, scope.event].join(" ");
}

function highestIds(records: readonly Readable<AnyKind>[]): Map<string, number> {
  const highest = new Map<string, number>();
  for (const { kind, value, removal } of records) {
    if (removal) continue;
    for (const [sequence, id] of kind.idsOf?.(value) ?? []) {
      if (id > (highest.get(sequence) ?? 0)) highest.set(sequence, id);
    }
  }
  return highest;
}

function toRejected({ line }: SentRecord, errors: FieldErrors | undefined): ApplyRecordsResponse["rejected"] {
  if (errors === undefined) return [];
  const fields = Object.entries(errors).map(([field, messages]) => ({ field, messages: [...messages] }));
  return [{ line, errors: fields }];
}
