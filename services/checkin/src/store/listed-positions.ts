import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";
import { climb, type Ladder } from "./ladder.ts";
import { packed, unpack } from "./packed.ts";
import { isBehind, type Place, selectPlace, toPlace, type Value } from "./places.ts";
import { divide, type Stretch } from "./position-blocks.ts";
import { conditionsOn, fewTickets, type PositionFilter, type ScanLookup } from "./position-filter.ts";
import { joinedIn, termsOf, turned } from "./position-order.ts";
import { type Columns, fromTickets, readStretches, type Span, type Start, selectTickets } from "./read-stretches.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

/** Which of the tickets that were found are wanted. */
export interface Cut {
  readonly ordering: readonly string[];
  readonly limit: number;
  readonly offset: number;
  /** All that were found. */
  readonly count: number;
  /** Leads to a page far from both ends. */
  readonly ladder?: Ladder | undefined;
}

/** Reads columns of one page of tickets, whatever is searched. It is read from the nearer end: what lies before it is skipped. */
async function pageOf<Row>(db: Queryable, filter: PositionFilter, columns: Columns<Row>, cut: Cut): Promise<Row[]> {
  const { ordering, offset, count, ladder } = cut;
  const limit = Math.min(cut.limit, count - offset);
  if (limit <= 0) return [];
  const behind = count - offset - limit;
  const isReversed = ladder === undefined && behind < offset;
  const span: Pick<Span, "skip" | "start"> =
    ladder === undefined ? { skip: isReversed ? behind : offset } : climb(ladder, offset);
  const look = { lookup: lookupAmong(count), most: span.skip + limit };
  const stretches = await divide(db, filter, { ordering, ...look });
  if (!fits(span.start, stretches)) return pageOf(db, filter, columns, { ...cut, ladder: undefined });
  const rows = await readStretches<Row>(db, filter, columns, { stretches, ...span, limit, isReversed });
  return isReversed ? rows.reverse() : rows;
}

/** How tickets are divided depends on how many there are of some kind: since a ladder was read, a stretch may have other terms. */
function fits(start: Start | undefined, stretches: readonly Stretch[]): boolean {
  return start?.place === undefined || start.place.length === stretches[start.stretch]?.terms.length;
}

function lookupAmong(count: number): ScanLookup {
  return count > fewTickets ? "each" : "all";
}

/** Where the tickets are that are wanted next to a place. */
export interface Beside {
  readonly place: Place;
  /** The last ones before it, and not the first ones behind it. */
  readonly isBefore: boolean;
}

/** Reads columns of all of these tickets that the filter leaves. */
async function allOf<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns<Row>,
  { ordering, ids, beside }: Among,
): Promise<Row[]> {
  const terms = termsOf(filter, ordering);
  const among = sql`${conditionsOn(filter)} and ticket.id = any(${ids}::bigint[])`;
  const from = beside === undefined ? undefined : isBehind(beside.isBefore ? terms.map(turned) : terms, beside.place);
  const where = from === undefined ? among : sql`${among} and ${from}`;
  return columns.read(db, selectTickets(filter, columns, { where, terms }));
}

/** Some tickets of which those are wanted that the filter leaves, or those of them on one side of a place. */
interface Among {
  readonly ordering: readonly string[];
  readonly ids: readonly number[];
  readonly beside?: Beside | undefined;
}

const idAlone: Columns<{ id: number }> = {
  names: sql`ticket.id`,
  ofPage: sql`page.id`,
  from: [],
  read: (db, statement) => db.many(statement),
};

/** Finds one page of tickets, whatever is searched. */
export async function pageIds(db: Queryable, filter: PositionFilter, cut: Cut): Promise<number[]> {
  return (await pageOf<{ id: number }>(db, filter, idAlone, cut)).map(({ id }) => id);
}

/** Finds the tickets next to a place in an order, whatever is searched. */
export async function idsBeside(
  db: Queryable,
  filter: PositionFilter,
  { ordering, limit, count, place, isBefore }: Beside & Omit<Cut, "offset" | "ladder">,
): Promise<number[]> {
  const stretches = await divide(db, filter, { ordering, lookup: lookupAmong(count), most: limit });
  const start = stretches
    .map((stretch, index) => ({ stretch: index, place: stretch.placeIn(place) }))
    .find((each) => each.place !== undefined);
  const span = { skip: 0, limit, isReversed: isBefore, start };
  const ids = (await readStretches<{ id: number }>(db, filter, idAlone, { stretches, ...span })).map(({ id }) => id);
  return isBefore ? ids.reverse() : ids;
}

/** Reads where tickets are in an order. */
export async function readPlaces(
  db: Queryable,
  filter: PositionFilter,
  { ordering, ids }: Among,
): Promise<ReadonlyMap<number, Place>> {
  const terms = termsOf(filter, ordering);
  const rows = await db.many<{ id: number } & Record<string, Value>>(sql`
    select ticket.id, ${selectPlace(terms)}
           ${fromTickets(filter, joinedIn(terms))}
     where ticket.organizer = ${filter.organizer} and ticket.event = ${filter.event}
       and ticket.id = any(${ids}::bigint[])`);
  return new Map(rows.map((row) => [row.id, toPlace(row, terms)]));
}

/** Sorts those of the tickets with these ids that the filter leaves. */
export async function sortIds(db: Queryable, filter: PositionFilter, among: Among): Promise<number[]> {
  return (await allOf<{ id: number }>(db, filter, idAlone, among)).map(({ id }) => id);
}

/** What rules may ask about a ticket but for its scans. */
export interface RuledTicket {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
}

type PackedTickets = Readonly<Record<"ids" | "items" | "variations" | "subevents", string>>;

/** In variations and dates zero means none. */
const ruledColumns: Columns<RuledTicket> = {
  names: sql`ticket.id, ticket.item, coalesce(ticket.variation, 0) as variation, coalesce(ticket.subevent, 0) as subevent`,
  ofPage: sql`page.id, page.item, page.variation, page.subevent`,
  from: [],
  read: readRuled,
};

async function readRuled(db: Queryable, statement: Sql): Promise<RuledTicket[]> {
  const texts = await db.one<PackedTickets>(sql`
    select ${packed(sql`ruled.id`)} as ids, ${packed(sql`ruled.item`)} as items,
           ${packed(sql`ruled.variation`)} as variations, ${packed(sql`ruled.subevent`)} as subevents
      from (${statement}) as ruled`);
  const [items, variations, subevents] = [unpack(texts.items), unpack(texts.variations), unpack(texts.subevents)];
  return unpack(texts.ids).map((id, index) => ({
    id,
    item: items[index] ?? 0,
    variation: variations[index] || null,
    subevent: subevents[index] || null,
  }));
}

/** Reads the first tickets, whatever is searched. */
export async function firstRuled(db: Queryable, filter: PositionFilter, cut: Cut): Promise<RuledTicket[]> {
  return pageOf<RuledTicket>(db, filter, ruledColumns, cut);
}

/** Sorts those of the tickets with these ids that the filter leaves. */
export async function sortRuled(db: Queryable, filter: PositionFilter, among: Among): Promise<RuledTicket[]> {
  return allOf<RuledTicket>(db, filter, ruledColumns, among);
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
    select ${ticketColumns({ list: sql`${list}`, hasRules: sql`false` })}
      from unnest(${ids}) with ordinality as paged (id, place)
     cross join lateral (${positionById({ organizer, event, id: sql`paged.id` })}) as ticket
      ${joinedTo({ list: sql`${list}` })}
     order by paged.place`);
  return rows.map(toTicketRead);
}
