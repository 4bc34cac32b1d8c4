import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { PastScan, Period, ScanFilter } from "../domain/past-scan.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const columns = sql`
  scan.id, scan.list, scan.position, scan.type, scan.reason, scan.explanation, scan.at, scan.created_at as "createdAt",
  scan.device, scan.device_id as "deviceId", scan.gate, scan.auto_checked_in as "autoCheckedIn"`;

/** The condition of rows named `scan`. */
export function matching(filter: ScanFilter): Sql {
  const { created, scanned, successful, reason, list, type, gate, device, autoCheckedIn } = filter;
  return sql`
        scan.organizer = ${filter.organizer}
    and scan.event = ${filter.event}
    and ${within(sql`scan.created_at`, created)}
    and ${within(sql`scan.at`, scanned)}
    and (${successful ?? null}::boolean is null or scan.successful = ${successful ?? null})
    and (${reason ?? null}::text is null or scan.reason = ${reason ?? null})
    and (${list ?? null}::bigint is null or scan.list = ${list ?? null})
    and (${type ?? null}::text is null or scan.type = ${type ?? null})
    and (${gate ?? null}::bigint is null or scan.gate = ${gate ?? null})
    and (${device ?? null}::bigint is null or coalesce(scan.device, scan.device_id) = ${device ?? null})
    and (${autoCheckedIn ?? null}::boolean is null or scan.auto_checked_in = ${autoCheckedIn ?? null})`;
}

function within(time: Sql, { since, before }: Period): Sql {
  const [from, to] = [toNullableTimestamp(since), toNullableTimestamp(before)];
  return sql`(${from}::timestamptz is null or ${time} >= ${from}) and (${to}::timestamptz is null or ${time} < ${to})`;
}

/** Counts the scans of an event, up to a limit. */
export async function countScans(
  db: Queryable,
  filter: ScanFilter,
  { most }: { readonly most: number },
): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from (select from scan where ${matching(filter)} limit ${most}) as counted`);
  return count;
}

/** The API's sort keys of scans. */
const orderings: ReadonlyMap<string, Sql> = new Map(
  Object.entries({
    created: sql`scan.created_at`,
    "-created": sql`scan.created_at desc`,
    datetime: sql`scan.at`,
    "-datetime": sql`scan.at desc`,
    id: sql`scan.id`,
    "-id": sql`scan.id desc`,
  }),
);

/** Leaves out repeated columns and columns after the id: they cannot change the order. */
function toTerms(ordering: readonly string[]): readonly Sql[] {
  const terms = new Map<string, Sql>();
  for (const name of ordering) {
    const column = name.replace("-", "");
    const term = orderings.get(name);
    if (term !== undefined && !terms.has("id") && !terms.has(column)) terms.set(column, term);
  }
  if (terms.size === 0) return [sql`scan.created_at`, sql`scan.id`];
  return [...terms.values(), ...(terms.has("id") ? [] : [sql`scan.id desc`])];
}

/** Reads one page of the scans of an event. Without further conditions the offset is skipped in an index-only scan. */
export async function pageScans(
  db: Queryable,
  filter: ScanFilter,
  page: { readonly ordering: readonly string[]; readonly limit: number; readonly offset: number },
): Promise<PastScan[]> {
  const order = joinSql(toTerms(page.ordering), ", ");
  return db.many<PastScan>(sql`
    with found as materialized (
      select scan.organizer, scan.event, scan.id
        from scan
       where ${matching(filter)}
       order by ${order}
       limit ${page.limit} offset ${page.offset}
    )
    select ${columns}
      from found
      join scan on scan.organizer = found.organizer and scan.event = found.event and scan.id = found.id
     order by ${order}`);
}

export async function findScan(db: Queryable, { organizer, event, id }: EntityKey): Promise<PastScan | undefined> {
  return db.maybeOne<PastScan>(sql`
    select ${columns}
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.id = ${id}`);
}

/** Finds the positions with a successful scan that counts as use. A scan on an unknown list counts. */
export async function findScannedPositions(
  db: Queryable,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db.many<{ position: number }>(sql`
    select asked.position
      from unnest(${positions}::bigint[]) as asked (position)
     where exists (select
                     from scan
                     left join list
                       on list.organizer = scan.organizer and list.event = scan.event and list.id = scan.list
                    where scan.position = asked.position
                      and scan.organizer = ${organizer}
                      and scan.event = ${event}
                      and scan.successful
                      and coalesce(list.consider_tickets_used, true))`);
  return new Set(rows.map(({ position }) => position));
}
