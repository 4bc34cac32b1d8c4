import type { FieldErrors } from "@tessera/kit/fault";
import type { Tx } from "@tessera/kit/pg/database";
import { findMentioned, type Known, nothingMentioned } from "../store/references.ts";
import type { AnyKind } from "./all-kinds.ts";
import { notKnown, type Refusals } from "./kind.ts";
import type { Readable } from "./read-record.ts";

/** Applies neighbouring records of one kind and scope, none with the key of another, and returns those it refused. */
export async function applyRun(tx: Tx, run: readonly Readable[]): Promise<Refusals<Readable>> {
  const [first] = run;
  if (first === undefined) return new Map();
  const { kind, scope, removal } = first;
  if (removal) return removeAll(tx, run);
  const mentioned = nothingMentioned();
  for (const { value } of run) kind.mention?.(value, mentioned);
  const known = await findMentioned(tx, scope, mentioned);
  const homeless = findHomelessness(kind, known);
  if (homeless !== undefined) return new Map(run.map((record) => [record, homeless]));

  const sent = run.map(({ value }) => value);
  const refused: Refusals<unknown> = (await kind.refuse?.(tx, { scope, values: sent, known })) ?? new Map();
  const values = sent.filter((value) => !refused.has(value));
  if (values.length > 0) await kind.store(tx, { scope, values, known });
  return byRecord(run, (record) => refused.get(record.value));
}

async function removeAll(tx: Tx, run: readonly Readable[]): Promise<Refusals<Readable>> {
  const [first] = run;
  if (first === undefined) return new Map();
  const { kind, scope } = first;
  const keys = run.map(({ key }) => key);
  const refused: Refusals<string> = (await kind.refuseRemoval?.(tx, { scope, keys })) ?? new Map();
  const left = keys.filter((key) => !refused.has(key));
  if (left.length > 0) await kind.remove(tx, { scope, keys: left });
  return byRecord(run, (record) => refused.get(record.key));
}

/** Whatever else is wrong with them, such records have no place to be. */
function findHomelessness(kind: AnyKind, known: Known): FieldErrors | undefined {
  if (kind.belongsTo !== "nothing" && !known.organizer) return { non_field_errors: [notKnown("organizer")] };
  if (kind.belongsTo === "event" && known.series === undefined) return { non_field_errors: [notKnown("event")] };
  return undefined;
}

function byRecord(
  run: readonly Readable[],
  errorsOf: (record: Readable) => FieldErrors | undefined,
): Map<Readable, FieldErrors> {
  const refused = new Map<Readable, FieldErrors>();
  for (const record of run) {
    const errors = errorsOf(record);
    if (errors !== undefined) refused.set(record, errors);
  }
  return refused;
}
