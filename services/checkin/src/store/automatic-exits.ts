import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Presence, ScanType } from "../domain/presence.ts";
import { covers, type DueList, stands } from "./due-lists.ts";

/** Which tickets to look at: so many behind one in the order of ids, or these. */
export type Stretch = { readonly after: number; readonly limit: number } | { readonly positions: readonly number[] };

/** A ticket that is inside, and the id that its exit will have. */
export interface InsideTicket {
  readonly position: number;
  readonly presence: Presence;
  readonly scanId: number;
}

/** What a stretch holds. */
export interface InsideTickets {
  readonly inside: readonly InsideTicket[];
  /** The last ticket that was looked at; undefined where no more follow. */
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
 * Finds the tickets that are inside a list by the scans before its automatic
 * exit and have not had that exit yet. Undefined: the list is not what it was.
 *
 * Tickets are walked in the order of their primary key: no index leads from a
 * list to its presences, because every scan would have to keep it up.
 */
export async function findInside(db: Queryable, list: DueList, stretch: Stretch): Promise<InsideTickets | undefined> {
  const rows = await db.many<Row>(sql`
    with walked as materialized (
      select position.id
        from position
       where ${within(list, stretch)}
         and ${covers(list)}
       order by position.organizer, position.event, position.id
       limit ${"limit" in stretch ? stretch.limit : stretch.positions.length}
    ), found as materialized (
      select walked.id, presence.version, presence.entries, presence.last_type, presence.last_at
        from walked
       cross join lateral (
         select presence.version, presence.entries, presence.last_type, presence.last_at
           from presence
          where presence.position = walked.id
            and presence.list = ${list.id}
            and presence.event = ${list.event}
            and presence.organizer = ${list.organizer}
         offset 0) as presence
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
     where ${stands(list)}`);
  const [first] = rows;
  if (first === undefined) return undefined;
  const isFull = "limit" in stretch && first.looked_at === stretch.limit;
  return {
    upTo: isFull ? (first.up_to ?? undefined) : undefined,
    inside: rows.flatMap(({ position, scan_id, version, entries, last_type, last_at }) =>
      position === null
        ? []
        : [{ position, scanId: scan_id, presence: { version, entries, last: { type: last_type, at: last_at } } }],
    ),
  };
}

/** As a range of the primary key, which no plan mistakes for what another index gives. */
function within(
  { organizer, event }: DueList,
  stretch: { readonly after: number } | { readonly positions: readonly number[] },
): Sql {
  if ("positions" in stretch) {
    return sql`
      (position.organizer, position.event) = (${organizer}, ${event}) and position.id = any(${stretch.positions}::bigint[])`;
  }
  return sql`
    (position.organizer, position.event, position.id) > (${organizer}, ${event}, ${stretch.after}::bigint)
     and (position.organizer, position.event) <= (${organizer}, ${event})`;
}

/** The successful scans of the walked ticket on the list. */
function ofTicket(list: DueList): Sql {
  return sql`
    scan.position = walked.id
     and scan.list = ${list.id}
     and scan.event = ${list.event}
     and scan.organizer = ${list.organizer}
     and scan.successful`;
}

/** The type of its newest scan among some. */
function lastType(list: DueList, among: Sql): Sql {
  return sql`
    (select scan.type
       from scan
      where ${ofTicket(list)}
        and ${among}
      order by scan.at desc, scan.id desc
      limit 1)`;
}

/** An exit that nobody has scanned, ready to be stored. */
export interface ExitToStore {
  readonly scanId: number;
  readonly position: number;
  /** As the exit leaves it; it is stored only on top of the version before. */
  readonly presence: Presence;
  /** What it adds to the counts. */
  readonly inside: number;
  /** The fact that tells of it. */
  readonly fact: { readonly id: string; readonly key: string; readonly payload: Uint8Array };
}

/**
 * Stores automatic exits of a list with presences, counts and facts, in one
 * statement; tells of which tickets.
 *
 * The others were scanned, are just being changed or have gone since they were
 * found; or the list has. As where scans are stored, neither tickets nor the
 * list are waited for, and presences are taken in their order. The list is held
 * against changes, too: no exit follows one that an organizer has taken back.
 *
 * What is kept is asked for with "is true", which no plan turns into a loop over all for each.
 */
export async function storeExits(
  db: Queryable,
  list: DueList,
  { topic, exits }: { readonly topic: string; readonly exits: readonly ExitToStore[] },
): Promise<Set<number>> {
  const at = toTimestamp(list.exit.at);
  const rows = await db.many<{ position: number }>(sql`
    with held_list as (
      select list.organizer, list.event, list.id
        from list
       where ${stands(list)}
         for share of list skip locked
    ), held_ticket as (
      select position.organizer, position.event, position.id as position, held_list.id as list, sent.id, sent.version,
             sent.entries, sent.last_type, sent.last_at, sent.inside, coalesce(position.subevent, 0) as subevent,
             position.item, coalesce(position.variation, 0) as variation, position.counted_as
        from unnest(${exits.map((exit) => exit.scanId)}::bigint[],
                    ${exits.map((exit) => exit.position)}::bigint[],
                    ${exits.map(({ presence }) => presence.version)}::bigint[],
                    ${exits.map(({ presence }) => presence.entries)}::bigint[],
                    ${exits.map(({ presence }) => presence.last?.type ?? null)}::text[],
                    ${exits.map(({ presence }) => (presence.last === null ? null : toTimestamp(presence.last.at)))}::timestamptz[],
                    ${exits.map((exit) => exit.inside)}::bigint[])
             as sent (id, position, version, entries, last_type, last_at, inside)
       cross join held_list
        join position
          on position.organizer = held_list.organizer and position.event = held_list.event and position.id = sent.position
       where ${covers(list)}
         for share of position skip locked
    ), exited as (
      insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
      select held_ticket.organizer, held_ticket.event, held_ticket.position, held_ticket.list, held_ticket.version,
             held_ticket.entries, held_ticket.last_type, held_ticket.last_at
        from held_ticket
        -- What has gone with its scans is not inserted anew.
        join presence as seen
          on seen.organizer = held_ticket.organizer and seen.event = held_ticket.event
             and seen.position = held_ticket.position and seen.list = held_ticket.list
       order by held_ticket.position, held_ticket.list, held_ticket.event, held_ticket.organizer
          on conflict (position, list, event, organizer) do update
             set version = excluded.version, entries = excluded.entries,
                 last_type = excluded.last_type, last_at = excluded.last_at
           where held.version = excluded.version - 1
      returning held.position
    ), kept as (
      select held_ticket.organizer, held_ticket.event, held_ticket.id, held_ticket.list, held_ticket.position,
             held_ticket.subevent, held_ticket.item, held_ticket.variation, held_ticket.counted_as, held_ticket.inside
        from held_ticket
       where (held_ticket.position in (select exited.position from exited)) is true
    ), stored as (
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
      select kept.organizer, kept.event, kept.id, kept.list, kept.position, 'exit', true, ${at}::timestamptz, false, false,
             true
        from kept
    ), counted as (
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
      select kept.organizer, kept.event, kept.list, kept.subevent, kept.item, kept.variation, kept.counted_as, 0, 0,
             sum(kept.inside)
        from kept
       where kept.counted_as is not null
       group by kept.organizer, kept.event, kept.list, kept.subevent, kept.item, kept.variation, kept.counted_as
      having sum(kept.inside) <> 0
    ), told as (
      insert into outbox (fact_id, topic, key, payload)
      select fact.id, ${topic}, fact.key, fact.payload
        from exited
        join unnest(${exits.map((exit) => exit.position)}::bigint[],
                    ${exits.map((exit) => exit.fact.id)}::uuid[],
                    ${exits.map((exit) => exit.fact.key)}::text[],
                    ${toByteaArray(exits.map((exit) => exit.fact.payload))}::bytea[])
             as fact (position, id, key, payload)
          on fact.position = exited.position
       order by exited.position
    )
    select exited.position
      from exited`);
  return new Set(rows.map((row) => row.position));
}

/**
 * Finds the first instant, not before the automatic exit, from which on a ticket
 * is inside. A statement that walks all tickets of the list; it is for lists
 * whose next exit is due as well.
 */
export async function findNextInside(db: Queryable, list: DueList): Promise<number | null> {
  const at = toTimestamp(list.exit.at);
  const { inside_at } = await db.one<{ inside_at: number | null }>(sql`
    with walked as materialized (
      select position.id
        from position
       where ${within(list, { after: 0 })}
         and ${covers(list)}
    )
    select min(case when ${lastType(list, sql`scan.at <= ${at}::timestamptz`)} = 'entry'
                    then ${at}::timestamptz
                    else (select min(scan.at)
                            from scan
                           where ${ofTicket(list)}
                             and scan.type = 'entry'
                             and scan.at > ${at}::timestamptz)
               end) as inside_at
      from walked
     cross join lateral (
       select presence.last_type, presence.last_at
         from presence
        where presence.position = walked.id
          and presence.list = ${list.id}
          and presence.event = ${list.event}
          and presence.organizer = ${list.organizer}
       offset 0) as presence
     where presence.last_type = 'entry'
        or presence.last_at > ${at}::timestamptz`);
  return inside_at;
}
