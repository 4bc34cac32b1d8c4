import type { Fault, FieldErrors } from "@tessera/kit/fault";
import { FieldProblems } from "@tessera/kit/field-problems";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import type { Checked } from "@tessera/kit/schema";
import type { Reading } from "@tessera/records/read";
import type { Known } from "../domain/known.ts";
import { fault } from "../faults.ts";
import type { RecordKind } from "../records/kind.ts";
import { locksOf, take } from "../store/locks.ts";
import * as organizers from "../store/organizers.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";

/** Keeps batches of the organizer's records out: what they and we look at stays as it is until one of us has changed it. */
export async function lockOrganizer(tx: Tx, organizer: string): Promise<void> {
  await take(tx, locksOf([{ organizer, event: "" }]));
}

/** Throws where there is no such organizer. */
export async function requireOrganizer(db: Queryable, organizer: string): Promise<void> {
  if (!(await organizers.exists(db, organizer))) throw fault("organizer_not_found", "There is no such organizer.");
}

/** What became of fields that were sent. */
interface Draft<T> {
  readonly reading: Reading<T>;
  readonly errors: FieldErrors;
}

/** Reads fields. Those that are wrong are put aside and take their defaults, so that what is wrong with others is found as well. */
export function readFields<T>(
  read: (data: unknown) => Checked<Reading<T>>,
  fields: Readonly<Record<string, unknown>>,
): Draft<T> {
  const whole = read({ ...fields });
  if (whole.ok) return { reading: whole.value, errors: {} };
  const wrong = new Set(Object.keys(whole.errors).map((path) => path.split(".")[0]));
  const rest = read(Object.fromEntries(Object.entries(fields).filter(([field]) => !wrong.has(field))));
  if (!rest.ok) throw invalidFields(whole.errors);
  return { reading: rest.value, errors: whole.errors };
}

/** Returns what is found, created first where there is nothing. */
export async function createOnce<T>(
  find: () => Promise<T | undefined>,
  create: () => Promise<void>,
): Promise<{ found: T; isNew: boolean }> {
  const before = await find();
  if (before !== undefined) return { found: before, isNew: false };
  await create();
  const found = await find();
  if (found === undefined) throw new Error("what was created is not there");
  return { found, isNew: true };
}

/** Stores a credential as its record would: by the same rules, in the same shape, with the same fact. `errors` are those known before. */
export async function storeNew<V>(
  tx: Tx,
  kind: RecordKind<V>,
  { organizer, value, errors }: { organizer: string; value: V; errors: FieldErrors },
): Promise<void> {
  const scope = { organizer, event: "" };
  const known = await findKnown(tx, kind, { organizer, value });
  const refused = await kind.refuse?.(tx, { scope, values: [value], known });
  const problems = new FieldProblems();
  problems.addAll(errors);
  problems.addAll(refused?.get(value) ?? {});
  if (!problems.isEmpty) throw invalidFields(problems.toErrors());
  await kind.store(tx, { scope, values: [value], known });
}

/** Stores a credential that was there. What it refers to may be gone by now: that keeps nobody from revoking it. */
export async function storeAgain<V>(
  tx: Tx,
  kind: RecordKind<V>,
  { organizer, value }: { organizer: string; value: V },
): Promise<void> {
  const known = await findKnown(tx, kind, { organizer, value });
  await kind.store(tx, { scope: { organizer, event: "" }, values: [value], known });
}

function findKnown<V>(
  tx: Tx,
  kind: RecordKind<V>,
  { organizer, value }: { organizer: string; value: V },
): Promise<Known> {
  const mentioned = nothingMentioned();
  kind.mention?.(value, mentioned);
  return findMentioned(tx, { organizer, event: "" }, mentioned);
}

function invalidFields(fields: FieldErrors): Fault {
  return fault("invalid_credential", `not valid: ${Object.keys(fields).join(", ")}`, { fields });
}
