import type { FieldErrors } from "@tessera/kit/fault";
import type { Tx } from "@tessera/kit/pg/database";
import { recordKinds } from "@tessera/protos/record-kinds";
import type { KnownScope, RecordKind, RecordOwner, Refusals, Scope } from "./kind.ts";
import type { Readable } from "./read-record.ts";
import { notKnown } from "./validate.ts";

/** Applies neighbouring records of one kind and scope, none with the key of another, and returns those it refused. */
export async function applyRun<Mentioned, Known extends KnownScope>(
  tx: Tx,
  run: readonly Readable<RecordKind<unknown, Mentioned, Known>>[],
  owner: RecordOwner<Mentioned, Known>,
): Promise<Refusals<(typeof run)[number]>> {
  const [first] = run;
  if (first === undefined) return new Map();
  const { kind, scope, removal } = first;
  if (removal) {
    const keys = run.map(({ key }) => key);
    const refused: Refusals<string> = (await kind.refuseRemoval?.(tx, { scope, keys })) ?? new Map();
    const left = keys.filter((key) => !refused.has(key));
    if (left.length > 0) await kind.remove(tx, { scope, keys: left });
    return byRecord(run, ({ key }) => refused.get(key));
  }
  const known = await findKnown(tx, { scope, records: run }, owner);
  const missingParent = findMissingParent(kind, known);
  if (missingParent !== undefined) return byRecord(run, () => missingParent);

  const sent = run.map(({ value }) => value);
  const refused: Refusals<unknown> = (await kind.refuse?.(tx, { scope, values: sent, known })) ?? new Map();
  const values = sent.filter((value) => !refused.has(value));
  if (values.length > 0) await kind.store(tx, { scope, values, known });
  return byRecord(run, ({ value }) => refused.get(value));
}

/** Finds what else is wrong with a record that is refused anyway, and stores nothing. */
export async function checkRest<Mentioned, Known extends KnownScope>(
  tx: Tx,
  rest: Readable<RecordKind<unknown, Mentioned, Known>>,
  owner: RecordOwner<Mentioned, Known>,
): Promise<FieldErrors> {
  const { kind, scope, value } = rest;
  const known = await findKnown(tx, { scope, records: [rest] }, owner);
  const refused = await kind.refuse?.(tx, { scope, values: [value], known });
  return findMissingParent(kind, known) ?? refused?.get(value) ?? {};
}

/** Looks up what records mention. */
async function findKnown<Mentioned, Known extends KnownScope>(
  tx: Tx,
  { scope, records }: { scope: Scope; records: readonly Readable<RecordKind<unknown, Mentioned, Known>>[] },
  owner: RecordOwner<Mentioned, Known>,
): Promise<Known> {
  const mentioned = owner.nothingMentioned();
  for (const { kind, value } of records) kind.mention?.(value, mentioned);
  return owner.findMentioned(tx, scope, mentioned);
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

function byRecord<R>(run: readonly R[], errorsOf: (record: R) => FieldErrors | undefined): Map<R, FieldErrors> {
  const refused = new Map<R, FieldErrors>();
  for (const record of run) {
    const errors = errorsOf(record);
    if (errors !== undefined) refused.set(record, errors);
  }
  return refused;
}
