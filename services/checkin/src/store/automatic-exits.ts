import type { Presence, ScanType } from "@tessera/admission";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { covers, type DueList, isUnchanged } from "./due-lists.ts";

/** Which tickets to read: a number of tickets after an id (keyset pagination), or these. */
export type Batch = { readonly after: number; readonly limit: number } | { readonly positions: readonly number[] };

/** A ticket that is inside, and the id of its exit. */
export interface InsideTicket {
  readonly position: number;
  readonly presence: Presence;
  readonly scanId: number;
}

export interface InsideTickets {
  readonly inside: readonly InsideTicket[];
  /** The last ticket that was read; undefined: no more follow. */
  readonly upTo: number | undefined;
}

interface Row {
  looked_at: number;
  up_to: number | null;
  position: number | null;
  version: number;
  entries: number;
  last_type: ScanType;
  last_at: number;
  scan_id: number;
}

/**
 * Finds the tickets that are inside a list by the scans before its automatic exit, and have not had that exit yet.
 * Undefined: the list was changed.
 *
 * Reads along the primary key: an index of the tickets inside would have to be updated by every scan.
 */
export async function findInside(db: Queryable, list: DueList, batch: Batch): Promise<InsideTickets | undefined> {
  const rows = await db.many<Row>(sql`
    with walked as materialized (
      select position.id
        from position
       where ${within(list, batch)}
         and ${covers(list)}
       order by position.organizer, position.event, position.id
       limit ${"limit" in batch ? batch.limit : batch.positions.length}
    ), found as materialized (
      select walked.id, presence.version, presence.entries, presence.last_type, presence.last_at
        from walked
       cross join lateral (${presenceOn(list)}) as presence
       where presence.entries > 0
         and case when presence.last_at < ${toTimestamp(list.exit.at)}::timestamptz
                  then presence.last_type = 'entry'
                  else ${lastType(list, sql`scan.at < ${toTimestamp(list.exit.at)}::timestamptz`)} = 'entry'
                       and not exists (
                         select
                           from scan
                          where ${ofTicket(list)}
                            and scan.at = ${toTimestamp(list.exit.at)}::timestamptz
                            and scan.type = 'exit'
                            and scan.auto_checked_in)
             end
    )
    select (select count(*) from walked) as looked_at, (select max(walked.id) from walked) as up_to,
           found.id as position, found.version, found.entries, found.last_type, found.last_at,
           case when found.id is not null then nextval('scan_id') end as scan_id
      from list
      left join found on true
     where ${isUnchanged(list)}`);
  const [first] = rows;
  if (first === undefined) return undefined;
  const isFull = "limit" in batch && first.looked_at === batch.limit;
  return {
    upTo: isFull ? (first.up_to ?? undefined) : undefined,
    inside: rows.flatMap(({ position, scan_id, version, entries, last_type, last_at }) =>
      position === null
        ? []
        : [{ position, scanId: scan_id, presence: { version, entries, last: { type: last_type, at: last_at } } }],
    ),
  };
}

/** A range of the primary key, so that no plan chooses another index. */
function within(
  { organizer, event }: DueList,
  batch: { readonly after: number } | { readonly positions: readonly number[] },
): Sql {
  if ("positions" in batch) {
    return sql`
      (position.organizer, position.event) = (${organizer}, ${event}) and position.id = any(${batch.positions}::bigint[])`;
  }
  return sql`
    (position.organizer, position.event, position.id) > (${organizer}, ${event}, ${batch.after}::bigint)
     and (position.organizer, position.event) <= (${organizer}, ${event})`;
}

/** The presence of the ticket on the list; `offset` is an optimization fence that keeps it a lookup by key. */
function presenceOn(list: DueList): Sql {
  return sql`
         select presence.version, presence.entries, presence.last_type, presence.last_at
           from presence
          where presence.position = walked.id
            and presence.list = ${list.id}
            and presence.event = ${list.event}
            and presence.organizer = ${list.organizer}
         offset 0`;
}

function ofTicket(list: DueList): Sql {
  return sql`
    scan.position = walked.id
     and scan.list = ${list.id}
     and scan.event = ${list.event}
     and scan.organizer = ${list.organizer}
     and scan.successful`;
}

function lastType(list: DueList, among: Sql): Sql {
  return sql`
    (select scan.type
       from scan
      where ${ofTicket(list)}
        and ${among}
      order by scan.at desc, scan.id desc
      limit 1)`;
}

/** The first instant from which on one of the tickets is inside; null: no such instant. */
export interface NextInside {
  readonly insideAt: number | null;
  /** The last ticket that was read; undefined: no more follow. */
  readonly upTo: number | undefined;
}

/**
 * Finds the first instant, not before the automatic exit, from which on one of these tickets is inside. For lists with
 * several exits due, which have more tickets than one statement can read in its time.
 */
export async function findNextInside(
  db: Queryable,
  list: DueList,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<NextInside> {
  const at = toTimestamp(list.exit.at);
  const row = await db.one<{ looked_at: number; up_to: number | null; inside_at: number | null }>(sql`
    with walked as materialized (
      select position.id
        from position
       where ${within(list, { after })}
         and ${covers(list)}
       order by position.organizer, position.event, position.id
       limit ${limit}
    )
    select (select count(*) from walked) as looked_at, (select max(walked.id) from walked) as up_to,
           min(case when ${lastType(list, sql`scan.at <= ${at}::timestamptz`)} = 'entry'
                    then ${at}::timestamptz
                    else (select min(scan.at)
                            from scan
                           where ${ofTicket(list)}
                             and scan.type = 'entry'
                             and scan.at > ${at}::timestamptz)
               end) as inside_at
      from walked
     cross join lateral (${presenceOn(list)}) as presence
     where presence.last_type = 'entry'
        or presence.last_at > ${at}::timestamptz`);
  return { insideAt: row.inside_at, upTo: row.looked_at === limit ? (row.up_to ?? undefined) : undefined };
}
