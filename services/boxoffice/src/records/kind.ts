import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import type { FieldErrors } from "@tessera/kit/fault";
import { FieldProblems } from "@tessera/kit/field-problems";
import type { Tx } from "@tessera/kit/pg/database";
import type { Checked, JsonSchema } from "@tessera/kit/schema";
import type { Scope } from "../domain/scope.ts";
import type { IdSequence } from "../store/id-sequences.ts";
import type { Known, Mentioned } from "../store/references.ts";
import { findUsers, type Referable } from "../store/usage.ts";

/** Records, or keys of records, that were refused, and why. */
export type Refusals<V> = ReadonlyMap<V, FieldErrors>;

/** Records of one kind and scope that are applied together; no key is among them twice. */
export interface Run<V> {
  readonly scope: Scope;
  readonly values: readonly V[];
  readonly known: Known;
}

/** Bytes that a record brings along; its row refers to them by this id. */
export interface SentFile {
  readonly id: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** Keys of one kind and scope that are removed together. */
export interface Removal {
  readonly scope: Scope;
  readonly keys: readonly string[];
}

/**
 * What boxoffice knows of one kind of record.
 *
 * Reading needs no database and happens once. The rest happens in a transaction
 * that may start over: what a run mentions is looked up, records that contradict
 * it are refused, the others are stored, and what that changed is published.
 */
export interface RecordKind<V> {
  /** What a record's `data` may be. */
  readonly schema: JsonSchema;
  /** Where its records live; organizers live nowhere. */
  readonly belongsTo: "nothing" | "organizer" | "event";
  /** The part of a record's address that repeats its key. */
  readonly addressedAs?: "organizer" | "event";
  read(data: unknown): Checked<V>;
  /** Reads the data of a removal, which is only the key. */
  readKey(data: unknown): Checked<string>;
  keyOf(value: V): string;
  /** The ids a record brings along; our own must exceed them. */
  idsOf?(value: V): Iterable<readonly [IdSequence, number]>;
  /** The files a record brings along. They are in the store for files before a transaction begins. */
  filesOf?(value: V): Iterable<SentFile>;
  /** Collects what a record refers to. */
  mention?(value: V, mentioned: Mentioned): void;
  /** Refuses what contradicts what is known, or an earlier record of the run. */
  refuse?(tx: Tx, run: Run<V>): Promise<Refusals<V>>;
  store(tx: Tx, run: Run<V>): Promise<void>;
  /** Refuses to remove what is still referred to. */
  refuseRemoval?(tx: Tx, removal: Removal): Promise<Refusals<string>>;
  remove(tx: Tx, removal: Removal): Promise<void>;
  /** How all of them are published again. */
  readonly rebuild?: Rebuild;
}

/** Notes what is wrong with a field. */
export type Complain = (field: string, message: string) => void;

/** Examines records one after the other, collecting complaints; one without any may be `admit`ted to what the next ones meet. */
export function refuseEach<V>(
  values: Iterable<V>,
  examine: (value: V, complain: Complain) => void,
  admit?: (value: V) => void,
): Map<V, Record<string, string[]>> {
  const refusals = new Map<V, Record<string, string[]>>();
  for (const value of values) {
    const problems = new FieldProblems();
    examine(value, (field, message) => problems.add(field, message));
    if (problems.isEmpty) admit?.(value);
    else refusals.set(value, problems.toErrors());
  }
  return refusals;
}

/** Examines records that may refer to each other, anew with every refusal: it may leave others without what they refer to. */
export function refuseTogether<V>(
  values: readonly V[],
  examinerOf: (left: readonly V[]) => (value: V, complain: Complain) => void,
): Map<V, Record<string, string[]>> {
  const refused = new Map<V, Record<string, string[]>>();
  for (;;) {
    const left = values.filter((value) => !refused.has(value));
    const found = refuseEach(left, examinerOf(left));
    if (found.size === 0) return refused;
    for (const [value, errors] of found) refused.set(value, errors);
  }
}

/** Says something about an element of a list, which is reported under the name of the list. */
export function ofElement(index: number, message: string): string {
  return `Element ${index + 1}: ${message}`;
}

/** Says that something a record refers to is missing. */
export function notKnown(what: string): string {
  return `${what} is not known; its record must come first`;
}

/** Refuses removals of what others still refer to. */
export async function refuseUsed(tx: Tx, what: Referable, removal: Removal): Promise<Refusals<string>> {
  const users = await findUsers(tx, what, removal);
  return refuseEach(removal.keys, (key, complain) => {
    const by = users.get(key);
    if (by !== undefined) complain("non_field_errors", `${by} refer to it; remove or change those first`);
  });
}
