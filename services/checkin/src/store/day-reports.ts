import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { LocalDay, Step } from "../domain/local-day.ts";
import type { EventKey } from "./keys.ts";
import { packed, unpack } from "./packed.ts";

export interface ReportedDay extends EventKey, Pick<LocalDay, "since" | "before"> {
  /** Undefined: all lists. */
  readonly list: number | undefined;
  /** Undefined: all dates. */
  readonly subevent: number | undefined;
}

/**
 * Makes statements read the tickets of an event once. A plan of old statistics looks a ticket up for each scan, or goes through all of them for
 * each scan.
 */
export async function joinAsWhole(tx: Queryable): Promise<void> {
  await tx.run(sql`set local enable_nestloop = off`);
}

/** When the newest scan before an instant was made; null: no scan was. */
export async function findLastScan(
  db: Queryable,
  { organizer, event, before }: Pick<ReportedDay, "organizer" | "event" | "before">,
): Promise<number | null> {
  const row = await db.maybeOne<{ readonly at: number }>(sql`
    select scan.at
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.at < ${toTimestamp(before)}::timestamptz
     order by scan.organizer desc, scan.event desc, scan.at desc, scan.id desc
     limit 1`);
  return row?.at ?? null;
}

/** The scans of the day that count: not those that were annulled. */
function ofDay({ organizer, event, since, before, list }: ReportedDay): Sql {
  return sql`
             scan.organizer = ${organizer}
         and scan.event = ${event}
         and scan.at >= ${toTimestamp(since)}::timestamptz
         and scan.at < ${toTimestamp(before)}::timestamptz
         and (scan.successful or scan.annulled_at is null)
         ${list === undefined ? sql`` : sql`and scan.list = ${list}`}`;
}

/**
 * The tickets of the event, or of a date, read once: a report looks at most of them, and a lookup of each scan's own would take longer than
 * all the rest.
 */
const tickets = ({ organizer, event, subevent }: ReportedDay) => sql`
      select position.id, position.item, position.variation, position.subevent, position.counted_as
        from position
       where position.organizer = ${organizer}
         and position.event = ${event}
         ${subevent === undefined ? sql`` : sql`and position.subevent = ${subevent}`}`;

interface Counted {
  readonly entries: number;
  readonly exits: number;
  readonly refusals: number;
}

const counts = sql`
             count(*) filter (where scan.successful and scan.type = 'entry') as entries,
             count(*) filter (where scan.successful and scan.type = 'exit') as exits,
             count(*) filter (where not scan.successful) as refusals`;

const sums = sql`
           sum(tally.entries)::bigint as entries, sum(tally.exits)::bigint as exits, sum(tally.refusals)::bigint as refusals`;

export interface ScanTally extends Counted {
  /** What they are counted by; the others are null. */
  readonly by: "quarter" | "gate" | "device" | "list" | "reason";
  /** When the quarter begins. */
  readonly quarter: number | null;
  readonly gate: number | null;
  readonly device: number | null;
  readonly list: number | null;
  readonly reason: string | null;
}

/** Counts the scans of a day by when, where and why they were. */
export function tallyScans(db: Queryable, day: ReportedDay): Promise<ScanTally[]> {
  const isOfDate = sql`
        join ticket on ticket.id = scan.position`;
  return db.many<ScanTally>(sql`
    with ticket as materialized (${tickets(day)}
    ), tally as (
      select date_bin('15 minutes', scan.at, ${toTimestamp(day.since)}::timestamptz) as quarter, scan.gate, scan.device, scan.device_id,
             scan.list, scan.reason, ${counts}
        from scan ${day.subevent === undefined ? sql`` : isOfDate}
       where ${ofDay(day)}
       group by 1, 2, 3, 4, 5, 6
    ), placed as (
      select tally.quarter, tally.gate, coalesce(tally.device, tally.device_id) as device, tally.list, tally.reason, tally.entries,
             tally.exits, tally.refusals
        from tally
    )
    select case grouping(tally.quarter, tally.gate, tally.device, tally.list, tally.reason)
           when 15 then 'quarter' when 23 then 'gate' when 27 then 'device' when 29 then 'list' else 'reason' end as by,
           tally.quarter, tally.gate, tally.device, tally.list, tally.reason, ${sums}
      from placed as tally
     group by grouping sets ((tally.quarter), (tally.gate), (tally.device), (tally.list), (tally.reason))`);
}

/** What was scanned of one product, in one variation; null: the code had no ticket. */
export interface ProductTally extends Counted {
  readonly item: number | null;
  readonly variation: number | null;
  /** Different tickets with an entry. */
  readonly entered: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Counts the tickets of a day, and their scans, by product. */
export function tallyProducts(db: Queryable, day: ReportedDay): Promise<ProductTally[]> {
  return db.many<ProductTally>(sql`
    with ticket as materialized (${tickets(day)}
    ), scanned as (
      select scan.position, ${counts}, min(scan.at) as first_at, max(scan.at) as last_at
        from scan
       where ${ofDay(day)}
       group by scan.position
    )
    select ticket.item, ticket.variation, ${sums}, count(*) filter (where tally.entries > 0) as entered,
           min(tally.first_at) as "firstAt", max(tally.last_at) as "lastAt"
      from scanned as tally
      ${day.subevent === undefined ? sql`left join` : sql`join`} ticket on ticket.id = tally.position
     group by ticket.item, ticket.variation`);
}

export interface DayOfTickets {
  /** How many were inside when the day began. */
  readonly insideBefore: number;
  /** By the second, in order. */
  readonly steps: readonly Step[];
}

/** The columns of `scan_of_position`. */
const keyOfScan = ["position", "list", "event", "organizer", "successful", "at", "id"].map((name) => identifier(name));
const byTicket = joinSql(
  keyOfScan.map((column) => sql`scan.${column}`),
  ", ",
);
const descending = joinSql(
  keyOfScan.map((column) => sql`scan.${column} desc`),
  ", ",
);

/**
 * Finds how many tickets were inside when a day began, on each list, and how that has changed: a ticket is inside while its latest successful
 * scan is an entry, and is counted as the status of the list counts it. A part has the tickets with one remainder; the planner would take an equation for a few rows.
 */
export async function followTickets(
  db: Queryable,
  day: ReportedDay,
  { part, parts }: { readonly part: number; readonly parts: number },
): Promise<DayOfTickets> {
  const { organizer, event, list } = day;
  const [since, before] = [sql`${toTimestamp(day.since)}::timestamptz`, sql`${toTimestamp(day.before)}::timestamptz`];
  const ofPart = (row: Sql) => sql`
         and case when ${row}.position % ${parts} = ${part} then true else false end
         ${list === undefined ? sql`` : sql`and ${row}.list = ${list}`}`;
  const row = await db.one<{ seconds: string; changes: string }>(sql`
    with ticket as materialized (${tickets(day)}
    ), earlier as (
      select held.list, held.position, before.at, before.id, before.type
        from presence as held
       cross join lateral (
         -- A range, so that no other index is chosen (see withKey).
         select scan.at, scan.id, scan.type
           from scan
          where (${byTicket}) >= (held.position, held.list, held.event, held.organizer, true, timestamptz '-infinity', 0)
            and (${byTicket}) < (held.position, held.list, held.event, held.organizer, true, ${since}, 0)
          order by ${descending}
          limit 1) as before
       where held.organizer = ${organizer}
         and held.event = ${event}
         and held.last_at >= ${since}
         ${ofPart(sql`held`)}
         and before.type = 'entry'
         -- On the first day of an event there is nothing to look for.
         and exists (select
                       from scan
                      where scan.organizer = ${organizer} and scan.event = ${event} and scan.at < ${since})
       union all
      select held.list, held.position, held.last_at, 0, held.last_type
        from presence as held
       where held.organizer = ${organizer}
         and held.event = ${event}
         and held.last_at < ${since}
         ${ofPart(sql`held`)}
         and held.last_type = 'entry'
    ), seen as (
      select earlier.list, earlier.position, earlier.at, earlier.id, earlier.type
        from earlier
       union all
      select scan.list, scan.position, scan.at, scan.id, scan.type
        from scan
       where scan.organizer = ${organizer}
         and scan.event = ${event}
         and scan.at >= ${since}
         and scan.at < ${before}
         and scan.successful
         ${ofPart(sql`scan`)}
    ), changed as (
      select seen.at, seen.type,
             lag(seen.type) over (partition by seen.list, seen.position order by seen.at, seen.id) as former
        from seen
        join list on list.organizer = ${organizer} and list.event = ${event} and list.id = seen.list
        join ticket
          on ticket.id = seen.position
             and ticket.counted_as is not null
             and (list.include_pending or ticket.counted_as <> 'pending')
             and (list.subevent is null or ticket.subevent = list.subevent)
             and (list.all_products or ticket.item = any(list.limit_products))
    ), step as (
      select greatest(date_bin('1 second', changed.at, ${since}), ${since} - interval '1 second') as at,
             sum(case changed.type when 'entry' then 1 else -1 end) as change
        from changed
       where (changed.type = 'entry') <> coalesce(changed.former = 'entry', false)
       group by 1
    )
    select ${packed(sql`step.second`)} as seconds, ${packed(sql`step.change`)} as changes
      from (select extract(epoch from step.at - ${since})::integer as second, step.change
              from step
             order by step.at) as step`);
  const changes = unpack(row.changes);
  const steps = unpack(row.seconds).map((second, index) => ({ second, change: changes[index] ?? 0 }));
  const [first, ...others] = steps;
  return first?.second === -1 ? { insideBefore: first.change, steps: others } : { insideBefore: 0, steps };
}
