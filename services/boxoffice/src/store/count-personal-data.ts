import type { EventKey } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";

/** Whether a row of `"order"` was placed before the last erasure of a kind in its event, or there was none. */
export function isBeforeErasure(kind: Sql): Sql {
  return sql`
    not exists (select
                  from (select max(erasure.requested_at) as last_at
                          from erasure
                         where erasure.organizer = "order".organizer
                           and erasure.event = "order".event
                           and ${kind} = any(erasure.kinds)) as erased
                 where ("order".data ->> 'datetime')::timestamptz >= erased.last_at)`;
}

/** Counts the orders of the last erasure's scope with a value at a path of a kind, such as `positions.*.answers`. */
export async function countOrdersWith(
  db: Queryable,
  { organizer, event }: EventKey,
  wanted: readonly { readonly kind: string; readonly path: string }[],
): Promise<ReadonlyMap<string, number>> {
  if (wanted.length === 0) return new Map();
  // A text that is not empty, or a member of an object or of the elements of a list.
  const testOf = (path: string) => {
    const at = `@.${path.replaceAll(".*", "[*]")}`;
    return `exists(${at} ? (@.type() == "string" && @ != "")) || exists(${at}.*)`;
  };
  const byKind = [...Map.groupBy(wanted, ({ kind }) => kind)];
  const testFor = (fields: typeof wanted) => `$ ? (${fields.map(({ path }) => testOf(path)).join(" || ")})`;
  const tests = byKind.map(([, fields]) => testFor(fields));
  // Mostly nothing is found: one test of all kinds comes first, and the age of the order last.
  const rows = await db.many<{ kind: string; count: number }>(sql`
    select wanted.kind, count(*) as count
      from "order"
     cross join unnest(${byKind.map(([kind]) => kind)}::text[], ${tests}::jsonpath[]) as wanted (kind, test)
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and jsonb_path_exists("order".data, ${testFor(wanted)}::jsonpath)
       and case when jsonb_path_exists("order".data, wanted.test) then ${isBeforeErasure(sql`wanted.kind`)} end
     group by wanted.kind`);
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}
