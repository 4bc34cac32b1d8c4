import { setImmediate } from "node:timers/promises";
import type { FieldErrors } from "@tessera/kit/fault";
import type { ApplyRecordsResponse, Record as SentRecord } from "@tessera/protos/gen/ticketing/records/v1/records";
import { FieldProblems } from "@tessera/schema/field-problems";
import { examineFiles } from "./examine-files.ts";
import type { Behind, KnownScope, RecordKind } from "./kind.ts";
import { compileRecordReader, type Readable } from "./read-record.ts";
import { splitRuns } from "./split-runs.ts";
import { UnknownKeys } from "./unknown-keys.ts";

/** A batch, read without the database. */
export interface ReadBatch<R> {
  /** Readable records, with their files examined. */
  readonly examined: readonly R[];
  /** The errors of the others; more may be added. */
  readonly errors: Map<SentRecord, FieldErrors>;
  readonly unknownKeys: UnknownKeys;
}

/** Reading a batch takes tens of milliseconds: after so many records it yields to the event loop. */
const recordsPerTurn = 20;

export function compileBatchReader<Mentioned, Known extends KnownScope>(
  kinds: readonly RecordKind<unknown, Mentioned, Known>[],
) {
  type Read = Readable<RecordKind<unknown, Mentioned, Known>>;
  const readRecord = compileRecordReader(kinds);

  return async (records: readonly SentRecord[]): Promise<ReadBatch<Read>> => {
    const errors = new Map<SentRecord, FieldErrors>();
    const unknownKeys = new UnknownKeys();
    const readable: Read[] = [];
    for (const [index, sent] of records.entries()) {
      if (index % recordsPerTurn === recordsPerTurn - 1) await setImmediate();
      const read = await readRecord(sent, unknownKeys);
      if (read.ok) readable.push(read.value);
      else errors.set(sent, read.errors);
    }
    return { examined: await examineFiles(readable), errors, unknownKeys };
  };
}

/** Cuts records into runs that are looked up and stored together, each with the later records of its kind and scope. */
export function splitRecords<Kind extends Pick<RecordKind<unknown, never, unknown>, "partsOf">>(
  records: readonly Readable<Kind>[],
): { readonly run: readonly Readable<Kind>[]; readonly behind: readonly Behind<unknown>[] }[] {
  const ofKind = new Map<string, readonly Behind<unknown>[]>();
  const group = (record: Readable<Kind>) => `${kindAndScope(record)} ${record.removal}`;
  const keys = ({ key, kind, value, removal }: Readable<Kind>) => [
    key,
    ...(removal ? [] : Array.from(kind.partsOf?.(value) ?? [], (part) => `part ${part}`)),
  ];
  const runs = splitRuns(records, { group, keys }).toReversed();
  const placed = runs.map((run) => {
    const name = run[0] === undefined ? "" : kindAndScope(run[0]);
    const behind = ofKind.get(name) ?? [];
    ofKind.set(name, [
      ...run.map(({ key, value, removal, removedAt }) => ({ key, value: removal ? undefined : value, removedAt })),
      ...behind,
    ]);
    return { run, behind };
  });
  return placed.toReversed();
}

function kindAndScope({ sent, scope }: Readable<unknown>): string {
  return [sent.kind, scope.organizer, scope.event].join(" ");
}

/** Says what has become of records. */
export function toResponse(
  records: readonly SentRecord[],
  {
    errors,
    taken,
    unknownKeys,
  }: Omit<ReadBatch<unknown>, "examined"> & { readonly taken: readonly Readable<unknown>[] },
): ApplyRecordsResponse {
  const warnings = new Map(taken.map(({ sent, warnings: found }) => [sent, found]));
  const warned = records.flatMap((sent) => toLine(sent, warnings.get(sent)));
  return {
    rejected: records.flatMap((sent) => toLine(sent, errors.get(sent))),
    ...(warned.length === 0 ? {} : { warned: { records: warned } }),
    ...unknownKeys.toIgnored(),
  };
}

/** The first hundred messages about a line; undefined or none: the line is not reported. */
function toLine({ line }: SentRecord, found: FieldErrors = {}): ApplyRecordsResponse["rejected"] {
  const problems = new FieldProblems();
  problems.addAll(found);
  if (problems.isEmpty) return [];
  return [{ line, errors: Object.entries(problems.toErrors()).map(([field, messages]) => ({ field, messages })) }];
}
