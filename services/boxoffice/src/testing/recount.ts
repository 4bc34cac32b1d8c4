import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** What is taken, as it is kept, and as orders and positions alone would have it. */
export async function recount(db: Db): Promise<{ readonly counted: unknown[]; readonly recounted: unknown[] }> {
  const counted = await db.many(sql`
    select taken_capacity.organizer, taken_capacity.event, taken_capacity.subevent, taken_capacity.item,
           taken_capacity.variation, taken_capacity.taken_as, taken_capacity.positions
      from taken_capacity
     where taken_capacity.positions <> 0
     order by 1, 2, 3, 4, 5, 6`);
  const recounted = await db.many(sql`
    select position.organizer, position.event, position.subevent, position.item, position.variation,
           case when "order".status = 'p' then 'paid' else 'pending' end as taken_as, count(*) as positions
      from position
      join "order"
        on "order".organizer = position.organizer
           and "order".event = position.event
           and "order".code = position.order_code
     where "order".status in ('p', 'n')
       and not position.canceled
     group by 1, 2, 3, 4, 5, 6
     order by 1, 2, 3, 4, 5, 6`);
  return { counted, recounted };
}
