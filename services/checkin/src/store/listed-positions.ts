import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";
import { conditionsOn, type PositionFilter } from "./position-filter.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

export async function countPositions(db: Queryable, filter: PositionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from position as ticket
     where ${conditionsOn(filter)}`);
  return count;
}

const ownName = sql`lower(nullif(ticket.attendee_name, ''))`;
const shownName = sql`lower(coalesce(nullif(ticket.attendee_name, ''), nullif(parent.attendee_name, '')))`;

/** The contract's names for what positions can be ordered by. */
const orderings: ReadonlyMap<string, Sql> = new Map(
  Object.entries({
    order__code: sql`ticket.order_code`,
    "-order__code": sql`ticket.order_code desc`,
    order__datetime: sql`ticket.order_placed_at`,
    "-order__datetime": sql`ticket.order_placed_at desc`,
    order__email: sql`lower(ticket.order_email)`,
    "-order__email": sql`lower(ticket.order_email) desc`,
    positionid: sql`ticket.positionid`,
    "-positionid": sql`ticket.positionid desc`,
    attendee_name: sql`${shownName} nulls first`,
    "-attendee_name": sql`${shownName} desc nulls last`,
    last_checked_in: sql`presence.last_at nulls first`,
    "-last_checked_in": sql`presence.last_at desc nulls last`,
  }),
);

const byName = [sql`${ownName} nulls last`, sql`ticket.positionid`, sql`ticket.id`];

/** Which of the tickets that were found are wanted. */
export interface Cut {
  readonly ordering: readonly string[];
  readonly limit: number;
  readonly offset: number;
}

/** The requested order; else the ticket with exactly the searched code comes first, because clients take it for the scanned one. */
function termsOf({ search }: PositionFilter, ordering: readonly string[]): readonly Sql[] {
  const wanted = [...new Set(ordering)].map((name) => orderings.get(name)).filter((term) => term !== undefined);
  if (wanted.length > 0) return [...wanted, sql`ticket.id desc`];
  return search.kind === "everything" ? byName : [sql`ticket.secret = ${search.codePrefix} desc`, ...byName];
}

function selectIds(filter: PositionFilter, { ordering, limit, offset }: Cut): Sql {
  return sql`
             select ticket.id
               from position as ticket
               left join position as parent
                 on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
               left join presence
                 on presence.organizer = ticket.organizer and presence.event = ticket.event
                    and presence.position = ticket.id and presence.list = ${filter.list.id}
              where ${conditionsOn(filter)}
              order by ${joinSql(termsOf(filter, ordering), ", ")}
              limit ${limit} offset ${offset}`;
}

/** Finds tickets by their ids alone. */
export async function findPositionIds(db: Queryable, filter: PositionFilter, cut: Cut): Promise<number[]> {
  const rows = await db.many<{ id: number }>(selectIds(filter, cut));
  return rows.map(({ id }) => id);
}

/** Reads one page of tickets. Only ids are sorted; the rest is read for the page alone. */
export async function pagePositions(db: Queryable, filter: PositionFilter, cut: Cut): Promise<TicketRead[]> {
  return readTickets(db, filter, { list: filter.list.id, ids: sql`array(${selectIds(filter, cut)})` });
}

/** Reads tickets as a list sees them, in the order of their ids here; deleted ones are left out. */
export async function readPositions(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<TicketRead[]> {
  return ids.length === 0 ? [] : readTickets(db, { organizer, event }, { list, ids: sql`${ids}::bigint[]` });
}

/** Reads the add-ons of tickets as a list sees them, in the order of their orders; canceled ones are left out. */
export async function readAddons(
  db: Queryable,
  { organizer, event, list }: EventKey & { readonly list: number },
  ids: readonly number[],
): Promise<TicketRead[]> {
  if (ids.length === 0) return [];
  const addons = sql`
             select addon.id
               from position as addon
              where addon.organizer = ${organizer} and addon.event = ${event}
                and addon.addon_to = any(${ids}::bigint[]) and not addon.canceled
              order by addon.positionid, addon.id`;
  return readTickets(db, { organizer, event }, { list, ids: sql`array(${addons})` });
}

/**
 * Finds a position by its key, written as the first row of a range: only the primary key gives that without sorting. With
 * an equality, a plan made while the table was new may choose any index that begins with the event, and would then read
 * the whole event for each position.
 */
export function positionById({ organizer, event, id }: EventKey & { readonly id: Sql }): Sql {
  return sql`
       select position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
              position.addon_to, position.attendee_name, position.state
         from position
        where (position.organizer, position.event, position.id) >= (${organizer}, ${event}, ${id})
          and (position.organizer, position.event, position.id) <= (${organizer}, ${event}, ${id})
        order by position.organizer, position.event, position.id
        limit 1`;
}

async function readTickets(
  db: Queryable,
  { organizer, event }: EventKey,
  { list, ids }: { readonly list: number; readonly ids: Sql },
): Promise<TicketRead[]> {
  const rows = await db.many<TicketRow>(sql`
    select ${ticketColumns}
      from unnest(${ids}) with ordinality as paged (id, place)
     cross join lateral (${positionById({ organizer, event, id: sql`paged.id` })}) as ticket
      ${joinedTo({ list: sql`${list}`, hasRules: sql`false` })}
     order by paged.place`);
  return rows.map(toTicketRead);
}
