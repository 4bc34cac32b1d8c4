import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import type { CopiedEntities } from "../records/kind.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { countEntities, drawRevision, type EntityKey, nextKeys } from "../store/rebuild-reads.ts";

/**
 * Makes the rebuild of a topic of entities.
 *
 * Keys are read first, because they determine the locks. An entity that is created in between is published by its own
 * transaction, with a revision above the cutoff. Rows keep the revisions of their last change: the rebuild publishes a
 * revision above that, and below the next change.
 */
export function rebuildEntities<F>({ topic, table, belongsTo, read }: CopiedEntities<F>): Rebuild<EntityKey> {
  return {
    topic,
    drawCutoff: (tx) => drawRevision(tx, table),
    count: (db) => countEntities(db, table),
    async publishNext(tx, { after, limit }) {
      const keys = await nextKeys(tx, table, { after, limit });
      const last = keys.at(-1);
      if (last === undefined) return undefined;
      const scopes = keys.map(([organizer = "", event = ""]) => ({
        organizer,
        event: belongsTo === "event" ? event : "",
      }));
      await takeLocks(tx, locksOf(scopes));
      const facts = await read(tx, keys);
      await tx.publish(topic, facts);
      return { last, published: facts.length };
    },
  };
}
