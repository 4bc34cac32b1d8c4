import type { Queryable } from "@tessera/kit/pg/database";
import type { Cut, Part, Place, Source } from "@tessera/kit/pg/page";
import { alongIndexes, readBehind, readPage, selectPlace, sortPage } from "@tessera/kit/pg/page";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { countPositions } from "./count-positions.ts";
import { positionById } from "./listed-positions.ts";
import { conditionsOn, fewTickets, type PositionFilter } from "./position-filter.ts";
import { joinToTicket, joinUsed, knownOrderings, type PositionTerm, termsOf } from "./position-order.ts";

const id = sql`ticket.id`;

/** A page of the tickets that were found; `count` is the number of tickets on all pages. */
export interface PositionCut extends Cut {
  readonly ordering: readonly string[];
  readonly count: number;
}

/** Finds one page of tickets; for filters without a search. */
export async function pageIds(db: Queryable, filter: PositionFilter, cut: PositionCut): Promise<number[]> {
  const { ordering, count } = cut;
  if (cut.offset >= count) return [];
  if (count <= fewTickets) return sortPage(db, allOf(filter, { ordering, tickets: sql`position as ticket` }), cut);
  return readSorted(db, ordering, async () => readPage(db, await divide(db, filter, ordering), cut));
}

/** Finds the first tickets behind a keyset cursor; for filters without a search. */
export async function idsBehind(
  db: Queryable,
  filter: PositionFilter,
  { ordering, ...wanted }: { readonly ordering: readonly string[]; readonly place: Place; readonly limit: number },
): Promise<number[]> {
  return readSorted(db, ordering, async () => readBehind(db, await divide(db, filter, ordering), wanted));
}

/** Sorts the tickets with these ids that meet the filter. */
export async function sortIds(
  db: Queryable,
  filter: PositionFilter,
  { ordering, ids }: { readonly ordering: readonly string[]; readonly ids: readonly number[] },
): Promise<number[]> {
  const { organizer, event } = filter;
  const tickets = sql`unnest(${ids}::bigint[]) as found (id)
          cross join lateral (${positionById({ organizer, event, id: sql`found.id` })}) as ticket`;
  return sortPage(db, allOf(filter, { ordering, tickets }), { limit: ids.length, offset: 0 });
}

/** The last ticket of a page, for keyset pagination. */
export interface Reached {
  readonly place: Place;
  /** Changes whenever a sort key may have changed; reveals none of them. */
  readonly stamp: string;
}

/** Finds the keyset cursor of a ticket; undefined: the ticket was deleted. */
export async function findReached(
  db: Queryable,
  filter: PositionFilter,
  { ordering, ticket }: { readonly ordering: readonly string[]; readonly ticket: number },
): Promise<Reached | undefined> {
  return db.maybeOne(sql`
    select ${selectPlace(termsOf(filter, ordering))} as place,
           concat_ws('.', ticket.revision, coalesce(parent.revision, 0), coalesce(presence.version, 0)) as stamp
      from (${positionById({ ...filter, id: sql`${ticket}` })}) as ticket${joinToTicket(filter, ["parent", "presence"])}`);
}

function allOf(
  filter: PositionFilter,
  { ordering, tickets }: { readonly ordering: readonly string[]; readonly tickets: Sql },
): Source {
  const terms = termsOf(filter, ordering);
  return { id, from: sql`${tickets}${joinUsed(filter, terms)}`, where: conditionsOn(filter, "all"), terms };
}

/** Only an order of a single sort key has an index to read along. */
async function readSorted<T>(db: Queryable, ordering: readonly string[], read: () => Promise<T>): Promise<T> {
  return knownOrderings(ordering).length > 1 ? read() : alongIndexes(db, read);
}

/** Divides the tickets of a list into parts, each with an index for the first sort key. */
export async function divide(
  db: Queryable,
  filter: PositionFilter,
  ordering: readonly string[],
): Promise<readonly Part[]> {
  const [name = ""] = knownOrderings(ordering);
  const terms = termsOf(filter, ordering);
  switch (name.replace(/^-/, "")) {
    case "attendee_name":
      return inOrder(name, byShownName(filter, terms));
    case "last_checked_in":
      return inOrder(name, await byLastScan(db, filter, terms));
    case "positionid":
      return inOrder(name, byNumber(filter, terms));
    case "order__email":
      return inOrder(name, byColumn(filter, { terms, by: sql`left(lower(ticket.order_email), 250)`, fixed: 2 }));
    case "":
      return byColumn(filter, { terms, by: sql`ticket.sort_name`, fixed: 1 });
    default:
      return [{ sources: [sourceOf(filter, { terms })] }];
  }
}

function inOrder(name: string, parts: readonly Part[]): readonly Part[] {
  return name.startsWith("-") ? parts.toReversed() : parts;
}

interface Some {
  readonly terms: readonly PositionTerm[];
  readonly where?: Sql;
  /** How many of the first terms are constant. */
  readonly fixed?: number;
}

function sourceOf(filter: PositionFilter, { terms, where, fixed = 0 }: Some): Source {
  const conditions = conditionsOn(filter);
  return {
    id,
    from: sql`position as ticket${joinUsed(filter, terms.slice(fixed))}`,
    where: where === undefined ? conditions : sql`${conditions} and ${where}`,
    terms,
  };
}

/** Tickets without a value in the column come last; in that part the first `fixed` terms are null. */
function byColumn(
  filter: PositionFilter,
  { terms, by, fixed }: { readonly terms: readonly PositionTerm[]; readonly by: Sql; readonly fixed: number },
): readonly Part[] {
  const present = terms.map((term, index) => (index < fixed ? { ...term, isOptional: false } : term));
  return [
    { sources: [sourceOf(filter, { terms: present, where: sql`${by} is not null` })] },
    {
      sources: [sourceOf(filter, { terms, where: sql`${by} is null`, fixed })],
      fixed: { terms: fixed, value: null, by },
    },
  ];
}

/** Tickets without a name come first. All add-ons without a name are read: they are sorted by their base ticket's. */
function byShownName(filter: PositionFilter, [first, ...others]: readonly PositionTerm[]): readonly Part[] {
  if (first === undefined) return [];
  const single = sql`ticket.sort_name is null and ticket.addon_to is null`;
  const addon = sql`ticket.sort_name is null and ticket.addon_to is not null`;
  const parentName = sql`(select parent.sort_name from (${positionById({ ...filter, id: sql`ticket.addon_to` })}) as parent)`;
  const nameless = (where: Sql) => sourceOf(filter, { terms: [first, ...others], where, fixed: 1 });
  const named = (by: Sql, where: Sql) =>
    sourceOf(filter, { terms: [{ ...first, by, uses: undefined, isOptional: false }, ...others], where });
  return [
    {
      sources: [nameless(single), nameless(sql`${addon} and ${parentName} is null`)],
      fixed: { terms: 1, value: null },
    },
    {
      sources: [
        named(sql`ticket.sort_name`, sql`ticket.sort_name is not null`),
        named(parentName, sql`${addon} and ${parentName} is not null`),
      ],
    },
  ];
}

/** Nearly all tickets have number 1; the index has the newest of them last. */
function byNumber(filter: PositionFilter, terms: readonly PositionTerm[]): readonly Part[] {
  return [
    { sources: [sourceOf(filter, { terms, where: sql`ticket.positionid < 1` })] },
    {
      sources: [sourceOf(filter, { terms, where: sql`ticket.positionid = 1`, fixed: 1 })],
      fixed: { terms: 1, value: 1 },
    },
    { sources: [sourceOf(filter, { terms, where: sql`ticket.positionid > 1` })] },
  ];
}

/** Tickets without a scan on the list come first. */
async function byLastScan(
  db: Queryable,
  filter: PositionFilter,
  terms: readonly PositionTerm[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const [first, ...others] = terms;
  if (filter.hasCheckin !== true) {
    const unscanned = { ...filter, hasCheckin: false };
    const count = await countPositions(db, unscanned);
    const few = count <= fewTickets;
    const where = few
      ? sql`ticket.id = any (array(select ticket.id from position as ticket where ${conditionsOn(unscanned, "all")}))`
      : undefined;
    parts.push({
      sources: [sourceOf(few ? filter : unscanned, { terms, fixed: 1, ...(where && { where }) })],
      fixed: { terms: 1, value: null },
      count,
    });
  }
  if (filter.hasCheckin !== false && first !== undefined) {
    const { organizer, event, list } = filter;
    const where = sql`scanned.organizer = ${organizer} and scanned.event = ${event} and scanned.list = ${list.id}
           and scanned.last_type is not null
           and ${conditionsOn({ ...filter, hasCheckin: undefined })}`;
    const from = sql`presence as scanned
          cross join lateral (${positionById({ organizer, event, id: sql`scanned.position` })}) as ticket${joinUsed(filter, others)}`;
    const [last, newest] = [
      { ...first, by: sql`scanned.last_at` },
      { by: sql`scanned.position`, descending: true },
    ];
    parts.push({
      sources: [{ id, from, where, terms: [{ ...last, isOptional: false }, ...others.slice(0, -1), newest] }],
      count: await countPositions(db, { ...filter, hasCheckin: true }),
    });
  }
  return parts;
}
