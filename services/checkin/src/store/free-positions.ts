import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/**
 * Locks positions until the transaction ends, those that no other one locks, and returns them. No lock is waited for: a ticket
 * that is just being changed must not hold up the others.
 */
export async function holdFreePositions(tx: Queryable, keys: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select position.organizer, position.event, position.id
      from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                  ${keys.map((key) => key.id)}::bigint[]) as wanted (organizer, event, id)
      join position
        on position.organizer = wanted.organizer and position.event = wanted.event and position.id = wanted.id
       for no key update of position skip locked`);
}
