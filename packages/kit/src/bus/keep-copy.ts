import type { Topic } from "@tessera/protos/topic";
import type { Tx } from "../pg/database.ts";
import type { CopyTable } from "../pg/table.ts";
import { type Consumer, consume, type Fact, newestPerKey } from "./consume.ts";

/** What a copy is besides its topic and its table. */
export interface CopyOptions<R, D> {
  /** Stores the newest states; where it is left out, those that are newer than what is there. */
  readonly store?: (tx: Tx, rows: readonly R[]) => Promise<unknown>;
  /** Called in every transaction that changes the copy. */
  readonly afterChange?: (tx: Tx) => Promise<void>;
  readonly afterDelivery?: (deps: D) => void;
}

/**
 * Consumes the states of a topic into a table of copies.
 *
 * A state that is older than the copy changes nothing, so replays are harmless. What was deleted and created again is
 * another entity: the former is deleted first, because its revision says nothing about the new one. A rebuild of the
 * topic deletes what it does not mention. A fact for which `toRow` returns undefined is left out.
 */
export function keepCopy<F, Key, Input, Row, D = unknown>(
  topic: Topic<F>,
  table: CopyTable<Key, Input, Row>,
  toRow: (fact: F) => Input | undefined,
  { store = table.upsertNewer, afterChange, afterDelivery }: CopyOptions<Input, D> = {},
): Consumer<D> {
  return consume<F, D>(
    topic,
    async (tx, facts) => {
      const { deleted, changed } = newestStates(facts);
      await table.delete(
        tx,
        deleted.map((key) => parseKey(topic, key) as Key),
      );
      await store(
        tx,
        changed.map(toRow).filter((row) => row !== undefined),
      );
      await afterChange?.(tx);
    },
    {
      async sweep(tx, { before }) {
        const deleted = await table.deleteOlder(tx, before);
        await afterChange?.(tx);
        return deleted;
      },
      ...(afterDelivery === undefined ? {} : { afterDelivery }),
    },
  );
}

/** Splits facts into the keys of entities that were deleted, and the newest states of those that are there: one can be in both. */
function newestStates<F>(facts: readonly Fact<F>[]): { readonly deleted: string[]; readonly changed: F[] } {
  return {
    deleted: newestPerKey(facts.filter(({ value }) => value === null)).map(({ key }) => key),
    changed: newestPerKey(facts).flatMap(({ value }) => (value === null ? [] : [value])),
  };
}

/** What a tombstone has left of its entity. */
function parseKey<F>({ name, parseKey: parse }: Topic<F>, key: string): Readonly<Record<string, string | number>> {
  if (parse === undefined) throw new Error(`${name} is no topic of entities`);
  return parse(key);
}
