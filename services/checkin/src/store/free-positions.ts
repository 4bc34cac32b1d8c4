import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type EntityKey, keysAs } from "./keys.ts";

/**
 * Locks positions until the transaction ends, and returns them. It skips locked rows: a ticket that is being changed must
 * not delay the others.
 */
export async function lockFreePositions(tx: Queryable, keys: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select position.organizer, position.event, position.id
      from ${keysAs("wanted", keys)}
      join position
        on position.organizer = wanted.organizer and position.event = wanted.event and position.id = wanted.id
       for no key update of position skip locked`);
}
