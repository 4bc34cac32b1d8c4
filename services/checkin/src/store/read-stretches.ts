import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { isBehind, type Place } from "./places.ts";
import type { Block, Source, Stretch } from "./position-blocks.ts";
import type { PositionFilter } from "./position-filter.ts";
import { type Joined, joinedIn, orderBy, turned } from "./position-order.ts";

/** Which columns of tickets are read. */
export interface Columns<Row> {
  readonly names: Sql;
  /** The same of `page`. */
  readonly ofPage: Sql;
  readonly from: readonly Joined[];
  read(db: Queryable, statement: Sql): Promise<Row[]>;
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
export function fromTickets(filter: PositionFilter, joined: readonly Joined[]): Sql {
  const joinsOnce = [...new Set(joined)].map((name) => joins[name](filter));
  return sql`
               from position as ticket
                    ${joinSql(joinsOnce, "")}`;
}

type Selected = Pick<Columns<never>, "names" | "from">;

/** Writes the query for columns of the tickets of a source, in its order. */
export function selectTickets(filter: PositionFilter, columns: Selected, source: Source): Sql {
  return sql`
             ${selectUnsorted(filter, columns, source)}
              order by ${orderBy(source.terms)}`;
}

/** The same in no order. */
export function selectUnsorted(
  filter: PositionFilter,
  columns: Selected,
  { where, terms, from: used = [] }: Source,
): Sql {
  return sql`
             select ${columns.names}
                    ${fromTickets(filter, [...columns.from, ...joinedIn(terms), ...used])}
              where ${where}`;
}

/** A place in one of several stretches, or the beginning of one. */
export interface Start {
  readonly stretch: number;
  /** In the order of the stretch. */
  readonly place?: Place | undefined;
}

/** Where a page begins and ends in an order, or in the reverse. */
export interface Span {
  readonly skip: number;
  readonly limit: number;
  readonly isReversed: boolean;
  /** Whence it is counted, if not from the beginning. */
  readonly start?: Start | undefined;
}

/** What is skipped is counted only where a stretch ends before the page. */
export async function readStretches<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns<Row>,
  { stretches, isReversed, start, ...span }: Span & { readonly stretches: readonly Stretch[] },
): Promise<Row[]> {
  const rows: Row[] = [];
  let { skip } = span;
  for (const [index, stretch] of [...stretches.entries()].sort(([a], [b]) => (isReversed ? b - a : a - b))) {
    if (start !== undefined && (isReversed ? index > start.stretch : index < start.stretch)) continue;
    const place = index === start?.stretch ? start.place : undefined;
    const known = place === undefined ? stretch.count : undefined;
    const limit = Math.min(span.limit - rows.length, (known ?? Number.MAX_SAFE_INTEGER) - skip);
    const most = skip + limit;
    let found: Row[] = [];
    for (const block of limit > 0 ? stretch.ways({ isReversed, most, place }) : []) {
      found = await readBlock<Row>(db, filter, columns, { block, skip, limit, isReversed, place });
      if (found.length === limit) break;
    }
    rows.push(...found);
    if (rows.length === span.limit) break;
    if (found.length > 0 || skip === 0) skip = 0;
    else skip -= known ?? (await countStretch(db, filter, { stretch, place }));
  }
  return rows;
}

async function countStretch(
  db: Queryable,
  filter: PositionFilter,
  { stretch, place }: { readonly stretch: Stretch; readonly place: Place | undefined },
): Promise<number> {
  let sum = 0;
  for (const source of stretch.ways({ isReversed: false, most: 0 }).at(-1) ?? []) {
    const { where, terms, from: used = [] } = behind(source, place);
    const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
           ${fromTickets(filter, [...used, ...joinedIn(terms)])}
     where ${where}`);
    sum += count;
  }
  return sum;
}

/** The tickets of a source that come behind a place. */
function behind(source: Source, place: Place | undefined): Source {
  return place === undefined ? source : { ...source, where: sql`${source.where} and ${isBehind(source.terms, place)}` };
}

async function readBlock<Row>(
  db: Queryable,
  filter: PositionFilter,
  columns: Columns<Row>,
  {
    block,
    skip,
    limit,
    isReversed,
    place,
  }: Omit<Span, "start"> & { readonly block: Block; readonly place: Place | undefined },
): Promise<Row[]> {
  const sources = block.map((source) =>
    behind(isReversed ? { ...source, terms: source.terms.map(turned) } : source, place),
  );
  const [first, ...others] = sources;
  if (first === undefined) return [];
  if (others.length === 0)
    return columns.read(
      db,
      sql`
    ${selectTickets(filter, columns, first)}
              limit ${limit} offset ${skip}`,
    );
  const numbers = first.terms.map((_, index) => identifier(`by${index}`));
  const ordered = sources.map((source) => {
    const keys = source.terms.map(({ by }, index) => sql`${by} as ${numbers[index] ?? by}`);
    return sql`(${selectTickets(filter, { ...columns, names: joinSql([columns.names, ...keys], ", ") }, source)}
              limit ${skip + limit})`;
  });
  const terms = first.terms.map((term, index) => ({ ...term, by: sql`page.${numbers[index] ?? term.by}` }));
  return columns.read(
    db,
    sql`
    select ${columns.ofPage}
      from (${joinSql(ordered, " union all ")}) as page
     order by ${orderBy(terms)}
     limit ${limit} offset ${skip}`,
  );
}
