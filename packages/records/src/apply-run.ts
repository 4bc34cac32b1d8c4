import type { FieldErrors } from "@tessera/kit/fault";
import type { Tx } from "@tessera/kit/pg/database";
import { recordKinds } from "@tessera/protos/record-kinds";
import type { Behind, KnownScope, RecordKind, RecordOwner, Refusals, Removal, Scope } from "./kind.ts";
import { mostRounds, type Read, type Readable } from "./read-record.ts";
import { notKnown } from "./validate.ts";

/** The most refused records of a run that are left out one by one, each at the cost of a check of the rest; further ones go together. */
const mostApart = 20;

/** The results of records. */
export interface Applied<R> {
  readonly refused: ReadonlyMap<R, FieldErrors>;
  /** The other records as they were stored, perhaps without some parts. */
  readonly taken: ReadonlyMap<R, R>;
}

/** Neighbouring records of one kind and scope, none with the key of another. */
export type RecordRun<Mentioned, Known> = readonly Readable<RecordKind<unknown, Mentioned, Known>>[];

/** A run, and the later records of the same batch, kind and scope. */
export interface PlacedRun<Mentioned, Known> {
  readonly run: RecordRun<Mentioned, Known>;
  readonly behind: readonly Behind<unknown>[];
}

export async function applyRun<Mentioned, Known extends KnownScope>(
  tx: Tx,
  { run, behind }: PlacedRun<Mentioned, Known>,
  owner: RecordOwner<Mentioned, Known>,
): Promise<Applied<(typeof run)[number]>> {
  const [first] = run;
  if (first === undefined) return { refused: new Map(), taken: new Map() };
  const { kind, scope, removal } = first;
  if (!removal) await owner.lockMentioned?.(tx, scope, collectMentioned(run, owner));
  const { refused, taken, known } = await checkRun(tx, { run, behind }, owner);
  const applied = [...taken.values()];
  if (applied.length === 0) return { refused, taken };
  if (removal) await kind.remove(tx, toRemoval(scope, applied, behind));
  else if (known !== undefined) await kind.store(tx, { scope, values: applied.map(({ value }) => value), known });
  return { refused, taken };
}

/** The results of records, and the entities that they refer to, if these were looked up because their parents exist. */
export interface Verdict<R, Known> extends Applied<R> {
  readonly known?: Known;
}

/** Finds the results of a run of records; `recall` adds entities that the database does not have yet. */
export async function checkRun<Mentioned, Known extends KnownScope>(
  tx: Tx,
  { run, behind }: PlacedRun<Mentioned, Known>,
  owner: RecordOwner<Mentioned, Known>,
  recall: (known: Known, scope: Scope) => Known = (known) => known,
): Promise<Verdict<(typeof run)[number], Known>> {
  const [first] = run;
  if (first === undefined) return { refused: new Map(), taken: new Map() };
  const { kind, scope, removal } = first;
  if (removal) {
    const refused: Refusals<string> = (await kind.refuseRemoval?.(tx, toRemoval(scope, run))) ?? new Map();
    return byRecord(run, ({ key }) => refused.get(key));
  }
  const known = recall(await owner.findMentioned(tx, scope, collectMentioned(run, owner)), scope);
  const missingParent = findMissingParent(kind, known);
  if (missingParent !== undefined) return byRecord(run, ({ warnings }) => ({ ...warnings, ...missingParent }));

  const { refused, taken } = await leaveOutWrong(tx, { run, behind, known });
  const values = Array.from(taken.values(), ({ value }) => value);
  const doubts: Refusals<unknown> = kind.doubt?.({ scope, values, known }) ?? new Map();
  if (doubts.size === 0) return { refused, taken, known };
  const withDoubts = new Map(taken);
  for (const [sent, record] of taken) {
    const found = doubts.get(record.value);
    if (found !== undefined) withDoubts.set(sent, await record.doubted(found));
  }
  return { refused, taken: withDoubts, known };
}

/**
 * Leaves out of records what contradicts what is known, or refuses them. Refused records
 * are left out first, and one by one: without one of them another record may be right, or wrong.
 */
async function leaveOutWrong<Mentioned, Known extends KnownScope>(
  tx: Tx,
  { run, behind, known }: PlacedRun<Mentioned, Known> & { readonly known: Known },
): Promise<Applied<(typeof run)[number]>> {
  type Record = (typeof run)[number];
  const taken = new Map<Record, Record>(run.map((record) => [record, record]));
  const refused = new Map<Record, FieldErrors>();
  for (let round = 0; taken.size > 0; ) {
    const [{ kind, scope } = run[0] as Record] = run;
    const values = Array.from(taken.values(), ({ value }) => value);
    const found: Refusals<unknown> = (await kind.refuse?.(tx, { scope, values, known, behind })) ?? new Map();
    if (found.size === 0) break;
    const again: { readonly sent: Record; readonly read: Read<Record["kind"]> }[] = [];
    for (const [sent, record] of taken) {
      const errors = found.get(record.value);
      if (errors === undefined) continue;
      again.push({ sent, read: round < mostRounds ? await record.without(errors) : { ok: false, errors } });
    }
    const wrong = again.flatMap(({ sent, read }) => (read.ok ? [] : [[sent, read.errors] as const]));
    for (const [sent, errors] of refused.size < mostApart ? wrong.slice(0, 1) : wrong) {
      refused.set(sent, errors);
      taken.delete(sent);
    }
    if (wrong.length > 0) continue;
    round += 1;
    for (const { sent, read } of again) if (read.ok) taken.set(sent, read.value);
  }
  return { refused, taken };
}

function toRemoval<Mentioned, Known>(
  scope: Scope,
  records: RecordRun<Mentioned, Known>,
  behind: readonly Behind<unknown>[] = [],
): Removal {
  const partsOf = records[0]?.kind.partsOf ?? (() => []);
  const moving = new Map<number, Set<string>>();
  for (const { key, value } of behind) {
    if (value === undefined) continue;
    for (const part of partsOf(value)) moving.set(part, (moving.get(part) ?? new Set()).add(key));
  }
  return {
    scope,
    moving,
    keys: records.map(({ key }) => key),
    removedAt: new Map(records.flatMap(({ key, removedAt }) => (removedAt == null ? [] : [[key, removedAt]]))),
  };
}

function collectMentioned<Mentioned, Known extends KnownScope>(
  run: RecordRun<Mentioned, Known>,
  owner: RecordOwner<Mentioned, Known>,
): Mentioned {
  const mentioned = owner.nothingMentioned();
  for (const { kind, value, removal } of run) if (!removal) kind.mention?.(value, mentioned);
  return mentioned;
}

/** The only error that such records report. */
function findMissingParent(
  { name }: Pick<RecordKind<unknown, unknown, unknown>, "name">,
  known: KnownScope,
): FieldErrors | undefined {
  const { belongsTo } = recordKinds[name];
  if (belongsTo !== "nothing" && !known.organizer) return { organizer: [notKnown("the organizer")] };
  if (belongsTo === "event" && known.series === undefined) return { event: [notKnown("the event")] };
  return undefined;
}

function byRecord<R>(run: readonly R[], errorsOf: (record: R) => FieldErrors | undefined): Applied<R> {
  const refused = new Map<R, FieldErrors>();
  const taken = new Map<R, R>();
  for (const record of run) {
    const errors = errorsOf(record);
    if (errors !== undefined) refused.set(record, errors);
    else taken.set(record, record);
  }
  return { refused, taken };
}
