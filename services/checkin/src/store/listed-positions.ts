import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";
import { conditionsOn, type PositionFilter } from "./position-filter.ts";
import { type Joined, type Order, orderOf } from "./position-order.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

/** Which of the tickets that were found are wanted. */
export interface Cut {
  readonly ordering: readonly string[];
  readonly limit: number;
  readonly offset: number;
  /** All that were found. */
  readonly count: number;
}

/** Which columns of tickets are wanted, of which ones, in which order. */
interface Selection {
  readonly columns: Columns;
  readonly where: Sql;
  readonly order: Order;
}

interface Columns {
  readonly names: Sql;
  readonly from: readonly Joined[];
}

const joins: Readonly<Record<Joined, (filter: PositionFilter) => Sql>> = {
  parent: ({ organizer, event }) => sql`
               left join position as parent
                 on parent.organizer = ${organizer} and parent.event = ${event} and parent.id = ticket.addon_to`,
  presence: ({ organizer, event, list }) => sql`
               left join presence
                 on presence.organizer = ${organizer} and presence.event = ${event}
                    and presence.position = ticket.id and presence.list = ${list.id}`,
};

/** Joins nothing that is not used: even a join that is left out of the plan would keep it from reading an index alone. */
function select(filter: PositionFilter, { columns, where, order }: Selection): Sql {
  const joined = [...new Set([...columns.from, ...order.from])].map((name) => joins[name](filter));
  return sql`
             select ${columns.names}
               from position as ticket
                    ${joinSql(joined, "")}
              where ${where}
              order by ${order.terms}`;
}

/** So few scanned tickets, or tickets without a scan, are found by what was scanned on the list, not one by one. */
const fewTickets = 5000;

/** Reads columns of one page of tickets, whatever is searched. It is read from the nearer end: what lies before it is skipped. */
async function pageOf<Row>(db: Queryable, filter: PositionFilter, columns: Columns, cut: Cut): Promise<Row[]> {
  const { ordering, offset, count } = cut;
  const limit = Math.min(cut.limit, count - offset);
  if (limit <= 0) return [];
  const behind = count - offset - limit;
  const isReversed = behind < offset;
  const where = conditionsOn(filter, count > fewTickets ? "each" : "all");
  const order = orderOf(filter, ordering, { isReversed });
  const rows = await db.many<Row>(sql`
    ${select(filter, { columns, where, order })}
              limit ${limit} offset ${isReversed ? behind : offset}`);
  return isReversed ? rows.reverse() : rows;
}

/** Reads columns of all of these tickets that the filter leaves. */
async function allOf<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns,
  { ordering, ids }: { readonly ordering: readonly string[]; readonly ids: readonly number[] },
): Promise<Row[]> {
  const where = sql`${conditionsOn(filter)} and ticket.id = any(${ids}::bigint[])`;
  return db.many<Row>(select(filter, { columns, where, order: orderOf(filter, ordering, { isReversed: false }) }));
}

const idAlone: Columns = { names: sql`ticket.id`, from: [] };

/** Finds one page of tickets, whatever is searched. */
export async function pageIds(db: Queryable, filter: PositionFilter, cut: Cut): Promise<number[]> {
  return (await pageOf<{ id: number }>(db, filter, idAlone, cut)).map(({ id }) => id);
}

/** Sorts those of the tickets with these ids that the filter leaves. */
export async function sortIds(
  db: Queryable,
  filter: PositionFilter,
  among: { readonly ordering: readonly string[]; readonly ids: readonly number[] },
): Promise<number[]> {
  return (await allOf<{ id: number }>(db, filter, idAlone, among)).map(({ id }) => id);
}

/** What rules may ask about a ticket without its scans. */
export interface RuledTicket {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  /** Whether rules may ask for scans of it on the list. */
  readonly isScanned: boolean;
}

/** Whether rules ask for scans of tickets. */
interface Asked {
  readonly scans: boolean;
}

function ruledColumns({ scans }: Asked): Columns {
  const rest = sql`ticket.id, ticket.item, ticket.variation, ticket.subevent`;
  return scans
    ? { names: sql`${rest}, presence.version is not null as "isScanned"`, from: ["presence"] }
    : { names: sql`${rest}, false as "isScanned"`, from: [] };
}

/** Reads the first tickets, whatever is searched. */
export async function firstRuled(
  db: Queryable,
  filter: PositionFilter,
  { scans, ...cut }: Cut & Asked,
): Promise<RuledTicket[]> {
  return pageOf<RuledTicket>(db, filter, ruledColumns({ scans }), cut);
}

/** Sorts those of the tickets with these ids that the filter leaves. */
export async function sortRuled(
  db: Queryable,
  filter: PositionFilter,
  { scans, ...among }: { readonly ordering: readonly string[]; readonly ids: readonly number[] } & Asked,
): Promise<RuledTicket[]> {
  return allOf<RuledTicket>(db, filter, ruledColumns({ scans }), among);
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
function positionById({ organizer, event, id }: EventKey & { readonly id: Sql }): Sql {
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
