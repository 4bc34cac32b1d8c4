import type { Db } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { recountedTakenRows, takenRows } from "../store/capacity.ts";

/** The stored counts, and the counts computed from orders and positions. */
export async function recount(db: Db): Promise<{ readonly counted: unknown[]; readonly recounted: unknown[] }> {
  const read = (rows: Sql) =>
    db.many(sql`
      select taken.organizer, taken.event, nullif(taken.subevent, 0) as subevent, taken.item,
             nullif(taken.variation, 0) as variation, taken.taken as taken_as, taken.content::bigint as positions
        from (${rows}) as taken
       order by 1, 2, 3, 4, 5, 6`);
  return { counted: await read(takenRows), recounted: await read(recountedTakenRows) };
}
