import type { Queryable } from "@tessera/kit/pg/database";
import type { EventKey } from "@tessera/kit/pg/entity-key";
import { sql } from "@tessera/kit/pg/sql";

/** Counts the orders of an event that have something at one of these paths, such as `positions.*.answers`. */
export async function countOrdersWith(
  db: Queryable,
  { organizer, event }: EventKey,
  paths: readonly string[],
): Promise<number> {
  // A text that is not empty, or a member of an object or of the elements of a list.
  const filled = paths.flatMap((path) => {
    const at = `$.${path.replaceAll(".*", "[*]")}`;
    return [`${at} ? (@.type() == "string" && @ != "")`, `${at}.*`];
  });
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::bigint as count
      from "order"
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and exists (select
                     from unnest(${filled}::text[]) as wanted (path)
                    where jsonb_path_exists("order".data, wanted.path::jsonpath))`);
  return count;
}
