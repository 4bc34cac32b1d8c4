import type { Queryable } from "@tessera/kit/pg/database";
import type { EventKey } from "@tessera/kit/pg/entity-key";
import { type Sql, sql } from "@tessera/kit/pg/sql";

/** Whether a row of `"order"` was placed before a kind of personal data was erased of its event the last time, or it never was. */
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

/**
 * Counts the orders of an event that have something at a path of a kind, such as `positions.*.answers`: of those that its
 * last erasure was about.
 */
export async function countOrdersWith(
  db: Queryable,
  { organizer, event }: EventKey,
  wanted: readonly { readonly kind: string; readonly path: string }[],
): Promise<ReadonlyMap<string, number>> {
  // A text that is not empty, or a member of an object or of the elements of a list.
  const filled = wanted.flatMap(({ kind, path }) => {
    const at = `$.${path.replaceAll(".*", "[*]")}`;
    return [`${at} ? (@.type() == "string" && @ != "")`, `${at}.*`].map((test) => ({ kind, test }));
  });
  const rows = await db.many<{ kind: string; count: number }>(sql`
    select wanted.kind, count(distinct "order".code) as count
      from "order"
     cross join unnest(${filled.map(({ kind }) => kind)}::text[],
                       ${filled.map(({ test }) => test)}::jsonpath[]) as wanted (kind, path)
     where "order".organizer = ${organizer}
       and "order".event = ${event}
       and ${isBeforeErasure(sql`wanted.kind`)}
       and jsonb_path_exists("order".data, wanted.path)
     group by wanted.kind`);
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}
