import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";
import { type StoredPosition, storedPosition } from "./positions.ts";

/** More than any number of tickets with one secret. With a limit the planner uses the index even without statistics. */
const mostAlike = 100;

/** Finds the positions of all orders with a ticket of one of these secrets, up to a limit. Slugs must hold no slash. */
export async function findTickets(
  db: Queryable,
  wanted: readonly (Scope & { readonly secret: string })[],
  { most }: { most: number },
): Promise<StoredPosition[]> {
  // Only the whole expression uses the index of secrets; a condition on the event would select another index.
  return db.many<StoredPosition>(sql`
    select ${storedPosition(sql`sold`)}
      from (select distinct named.organizer, named.event, named.order_code
              from unnest(${wanted.map(({ organizer, event, secret }) => `${organizer}/${event}/${secret}`)}::text[])
                   as wanted (ticket)
             cross join lateral (select position.organizer, position.event, position.order_code
                                   from position
                                  where (position.organizer || '/' || position.event || '/' || position.secret) = wanted.ticket
                                  limit ${mostAlike}) as named) as found
      join "order"
        on "order".organizer = found.organizer and "order".event = found.event and "order".code = found.order_code
     cross join lateral jsonb_path_query("order".data, '$.positions[*].id') as listed (id)
      join position as sold
        on sold.organizer = found.organizer and sold.event = found.event and sold.id = listed.id::bigint
     order by sold.organizer, sold.event, sold.order_code, sold.id
     limit ${most}`);
}
