import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";
import { type Block, divide, type Source, type Stretch } from "./position-blocks.ts";
import { conditionsOn, fewTickets, type PositionFilter } from "./position-filter.ts";
import { type Joined, joinedIn, orderBy, termsOf, turned } from "./position-order.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

/** Which of the tickets that were found are wanted. */
export interface Cut {
  readonly ordering: readonly string[];
  readonly limit: number;
  readonly offset: number;
  /** All that were found. */
  readonly count: number;
}

interface Columns {
  readonly names: Sql;
  /** The same of `page`. */
  readonly ofPage: Sql;
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
function from(filter: PositionFilter, joined: readonly Joined[]): Sql {
  const joinsOnce = [...new Set(joined)].map((name) => joins[name](filter));
  return sql`
               from position as ticket
                    ${joinSql(joinsOnce, "")}`;
}

function select(filter: PositionFilter, columns: Columns, { where, terms, from: used = [] }: Source): Sql {
  return sql`
             select ${columns.names}
                    ${from(filter, [...columns.from, ...joinedIn(terms), ...used])}
              where ${where}
              order by ${orderBy(terms)}`;
}

/** Where a page begins and ends in an order, or in the reverse. */
interface Place {
  readonly skip: number;
  readonly limit: number;
  readonly isReversed: boolean;
}

/** Reads columns of one page of tickets, whatever is searched. It is read from the nearer end: what lies before it is skipped. */
async function pageOf<Row>(db: Queryable, filter: PositionFilter, columns: Columns, cut: Cut): Promise<Row[]> {
  const { ordering, offset, count } = cut;
  const limit = Math.min(cut.limit, count - offset);
  if (limit <= 0) return [];
  const behind = count - offset - limit;
  const isReversed = behind < offset;
  const place = { skip: isReversed ? behind : offset, limit, isReversed };
  const stretches = await divide(db, filter, ordering);
  const where = conditionsOn(filter, count > fewTickets ? "each" : "all");
  const rows =
    stretches === undefined
      ? await readBlock<Row>(db, filter, columns, { block: [{ where, terms: termsOf(filter, ordering) }], ...place })
      : await readStretches<Row>(db, filter, columns, { stretches, ...place });
  return isReversed ? rows.reverse() : rows;
}

/** What is skipped is counted only where a stretch ends before the page. */
async function readStretches<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns,
  { stretches, isReversed, ...place }: Place & { readonly stretches: readonly Stretch[] },
): Promise<Row[]> {
  const rows: Row[] = [];
  let { skip } = place;
  for (const stretch of isReversed ? stretches.toReversed() : stretches) {
    const limit = Math.min(place.limit - rows.length, (stretch.count ?? Number.MAX_SAFE_INTEGER) - skip);
    const most = skip + limit;
    let found: Row[] = [];
    for (const block of limit > 0 ? stretch.ways({ isReversed, most }) : []) {
      found = await readBlock<Row>(db, filter, columns, { block, skip, limit, isReversed });
      if (found.length === limit) break;
    }
    rows.push(...found);
    if (rows.length === place.limit) break;
    if (found.length > 0 || skip === 0) skip = 0;
    else skip -= stretch.count ?? (await countStretch(db, filter, stretch));
  }
  return rows;
}

async function countStretch(db: Queryable, filter: PositionFilter, stretch: Stretch): Promise<number> {
  let sum = 0;
  for (const { where, from: used = [] } of stretch.ways({ isReversed: false, most: 0 }).at(-1) ?? []) {
    const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
           ${from(filter, used)}
     where ${where}`);
    sum += count;
  }
  return sum;
}

async function readBlock<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns,
  { block, skip, limit, isReversed }: Place & { readonly block: Block },
): Promise<Row[]> {
  const sources = block.map((source) => (isReversed ? { ...source, terms: source.terms.map(turned) } : source));
  const [first, ...others] = sources;
  if (first === undefined) return [];
  if (others.length === 0)
    return db.many<Row>(sql`
    ${select(filter, columns, first)}
              limit ${limit} offset ${skip}`);
  const numbers = first.terms.map((_, index) => identifier(`by${index}`));
  const ordered = sources.map((source) => {
    const keys = source.terms.map(({ by }, index) => sql`${by} as ${numbers[index] ?? by}`);
    return sql`(${select(filter, { ...columns, names: joinSql([columns.names, ...keys], ", ") }, source)}
              limit ${skip + limit})`;
  });
  const terms = first.terms.map((term, index) => ({ ...term, by: sql`page.${numbers[index] ?? term.by}` }));
  return db.many<Row>(sql`
    select ${columns.ofPage}
      from (${joinSql(ordered, " union all ")}) as page
     order by ${orderBy(terms)}
     limit ${limit} offset ${skip}`);
}

/** Reads columns of all of these tickets that the filter leaves. */
async function allOf<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns,
  { ordering, ids }: { readonly ordering: readonly string[]; readonly ids: readonly number[] },
): Promise<Row[]> {
  const where = sql`${conditionsOn(filter)} and ticket.id = any(${ids}::bigint[])`;
  return db.many<Row>(select(filter, columns, { where, terms: termsOf(filter, ordering) }));
}

const idAlone: Columns = { names: sql`ticket.id`, ofPage: sql`page.id`, from: [] };

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
  const ofPage = sql`page.id, page.item, page.variation, page.subevent, page."isScanned"`;
  return scans
    ? { names: sql`${rest}, presence.version is not null as "isScanned"`, ofPage, from: ["presence"] }
    : { names: sql`${rest}, false as "isScanned"`, ofPage, from: [] };
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
