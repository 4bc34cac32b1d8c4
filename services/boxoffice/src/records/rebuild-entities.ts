import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import type { Tx } from "@tessera/kit/pg/database";
import type { Topic } from "@tessera/protos/topic";
import { locksOf, take } from "../store/locks.ts";
import { countEntities, drawRevision, type EntityKey, type EntityTable, nextKeys } from "../store/rebuild-reads.ts";

interface Entities<F> {
  readonly topic: Topic<F>;
  readonly table: EntityTable;
  /** What those who change such entities hold: see the locks of a batch of records. */
  readonly belongsTo: "organizer" | "event";
  /** Reads the entities of these keys that are still there, and tells of them under new revisions. */
  read(tx: Tx, keys: readonly EntityKey[]): Promise<readonly F[]>;
}

/**
 * Makes the rebuild of a topic of entities.
 *
 * Keys are looked up first, because which locks to take follows from them. What comes up in between tells of itself,
 * with a revision above the line. The rows keep the revisions of their last change: those that are published here are
 * newer, and older than the next change's.
 */
export function rebuildEntities<F>({ topic, table, belongsTo, read }: Entities<F>): Rebuild {
  return {
    topic,
    drawLine: (tx) => drawRevision(tx, table),
    count: (db) => countEntities(db, table),
    async publishNext(tx, { after, limit }) {
      const keys = await nextKeys(tx, table, {
        after: after === undefined ? undefined : (JSON.parse(after) as EntityKey),
        limit,
      });
      const last = keys.at(-1);
      if (last === undefined) return undefined;
      const scopes = keys.map(([organizer = "", event = ""]) => ({
        organizer,
        event: belongsTo === "event" ? event : "",
      }));
      await take(tx, locksOf(scopes));
      const facts = await read(tx, keys);
      await tx.publish(topic, facts);
      return { place: JSON.stringify(last), published: facts.length };
    },
  };
}
