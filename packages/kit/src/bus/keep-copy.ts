import type { Topic } from "@tessera/protos/topic";
import type { Tx } from "../pg/database.ts";
import type { CopyTable } from "../pg/table.ts";
import { type Consumer, consume } from "./consume.ts";
import { newestPerKey } from "./fact.ts";

/** More about a copy than its topic and its table. */
export interface CopyOptions<R, D> {
  /** Stores the newest states; by default those that are newer than the copy. */
  readonly store?: (tx: Tx, rows: readonly R[]) => Promise<unknown>;
  /** Called in every transaction that changes the copy. */
  readonly afterChange?: (tx: Tx) => Promise<void>;
  readonly afterDelivery?: (deps: D) => void;
}

/**
 * Consumes the states of a topic into a table of copies.
 *
 * A state that is older than the copy changes nothing, so replays are harmless. An entity that was deleted and created
 * again has new revisions: they cannot be compared with the old ones, so the old copy is deleted first. A rebuild of the
 * topic deletes copies of entities that it does not publish. A fact is ignored when `toRow` returns undefined.
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
      const deleted = newestPerKey(facts.filter(({ value }) => value === null));
      await table.delete(
        tx,
        deleted.map(({ key }) => parseKey(topic, key) as Key),
        deleted.map(({ at }) => at),
      );
      const changed = newestPerKey(facts).flatMap(({ value }) => (value === null ? [] : [toRow(value)]));
      await store(
        tx,
        changed.filter((row) => row !== undefined),
      );
      await afterChange?.(tx);
    },
    {
      copy: table,
      async sweep(tx, { before, since }) {
        const deleted = await table.deleteOlder(tx, before, since);
        await afterChange?.(tx);
        return deleted;
      },
      ...(afterDelivery === undefined ? {} : { afterDelivery }),
    },
  );
}

/** A tombstone has only the key of its entity. */
function parseKey<F>({ name, parseKey: parse }: Topic<F>, key: string): Readonly<Record<string, string | number>> {
  if (parse === undefined) throw new Error(`${name} is no topic of entities`);
  return parse(key);
}
