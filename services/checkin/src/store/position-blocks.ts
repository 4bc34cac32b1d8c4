import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { countPositions } from "./count-positions.ts";
import { amongPresences, amongScans } from "./first-scanned.ts";
import type { Place, Value } from "./places.ts";
import { conditionsOn, fewTickets, type PositionFilter, type ScanLookup } from "./position-filter.ts";
import { byName, type Joined, knownOrderings, requested, type Term } from "./position-order.ts";

/** Tickets that indexes lead to in the order of the terms. */
export interface Source {
  readonly where: Sql;
  readonly terms: readonly Term[];
  /** What the condition uses beside `ticket`. */
  readonly from?: readonly Joined[];
}

/** The tickets of these sources, merged. All sources have as many terms, in the same directions. */
export type Block = readonly Source[];

/** Tickets that are all before or behind those of the other stretches. */
export interface Stretch {
  /** If it is known. */
  readonly count?: number;
  readonly terms: readonly Term[];
  /** What a place in the whole order is in the order of this stretch. Undefined: it is in another stretch. */
  placeIn(place: Place): Place | undefined;
  /**
   * How the first tickets of its order, or of the reverse, can be read, from a place on if there is one. Each way but the
   * last may miss tickets that follow the first ones; so it counts only if it leads to as many as are wanted.
   */
  ways(first: First): readonly Block[];
}

interface First {
  readonly isReversed: boolean;
  readonly most: number;
  readonly place?: Place | undefined;
}

/** How tickets of a list are looked at. */
interface Look {
  readonly lookup: ScanLookup;
  /** So many of the first ones at most. */
  readonly most: number;
}

/**
 * Divides a list, whatever is searched, for an order that no single index has: each stretch has a first term that an index
 * may have.
 */
export async function divide(
  db: Queryable,
  filter: PositionFilter,
  { ordering, ...look }: Look & { readonly ordering: readonly string[] },
): Promise<readonly Stretch[]> {
  const names = knownOrderings(ordering);
  const part = { filter, names, also: undefined, ...look };
  return names.length > 0 ? divideBy(db, part) : byOwnName(part);
}

interface Part extends Look {
  readonly filter: PositionFilter;
  /** More conditions. */
  readonly also: Sql | undefined;
  /** Orderings that have not divided it yet. */
  readonly names: readonly string[];
}

function conditionsOf({ filter, also, lookup }: Part): Sql {
  const conditions = conditionsOn(filter, lookup);
  return also === undefined ? conditions : sql`${conditions} and ${also}`;
}

async function divideBy(db: Queryable, part: Part): Promise<readonly Stretch[]> {
  switch (part.names[0]) {
    case "attendee_name":
      return byShownName(db, part, { descending: false });
    case "-attendee_name":
      return (await byShownName(db, part, { descending: true })).reverse();
    case "last_checked_in":
      return byLastScan(db, part, { descending: false });
    case "-last_checked_in":
      return byLastScan(db, part, { descending: true });
    case "positionid":
      return byNumber(db, part, { descending: false });
    case "-positionid":
      return byNumber(db, part, { descending: true });
    case "order__email":
      return byAddress(db, part);
    case "-order__email":
      return (await byAddress(db, part)).reverse();
    default:
      return [stretch([{ where: conditionsOf(part), terms: requested(part.names) }], (place) => place)];
  }
}

interface Direction {
  readonly descending: boolean;
}

function stretch(block: Block, placeIn: Stretch["placeIn"]): Stretch {
  return { terms: block[0]?.terms ?? [], placeIn, ways: () => [block] };
}

/** Tickets of which the first term is something. */
const withFirst: Stretch["placeIn"] = (place) => (place[0] === null ? undefined : place);

/** Tickets of which the first term is nothing; they are sorted by the others. */
const withoutFirst: Stretch["placeIn"] = ([first, ...others]) => (first === null ? others : undefined);

/** Nameless tickets last. */
function byOwnName(part: Part): Stretch[] {
  const conditions = conditionsOf(part);
  const rest = byName.slice(1);
  const terms = [{ by: sql`ticket.sort_name` }, ...rest];
  return [
    stretch([{ where: sql`${conditions} and ticket.sort_name is not null`, terms }], withFirst),
    stretch([{ where: sql`${conditions} and ticket.sort_name is null`, terms: rest }], withoutFirst),
  ];
}

/** Nameless tickets first. Few are add-ons without a name, which are sorted by another ticket's. */
async function byShownName(db: Queryable, part: Part, { descending }: Direction): Promise<Stretch[]> {
  const conditions = conditionsOf(part);
  const rest = requested(part.names.slice(1));
  const single = sql`${conditions} and ${await isNameless(db, part, sql`ticket.addon_to is null`)}`;
  const addon = sql`${conditions} and ${await isNameless(db, part, sql`ticket.addon_to is not null`)}`;
  const parent = ["parent"] as const;
  const named = (by: Sql): readonly Term[] => [{ by, descending }, ...rest];
  return [
    stretch(
      [
        { where: single, terms: rest },
        { where: sql`${addon} and parent.sort_name is null`, from: parent, terms: rest },
      ],
      withoutFirst,
    ),
    stretch(
      [
        { where: sql`${conditions} and ticket.sort_name is not null`, terms: named(sql`ticket.sort_name`) },
        { where: sql`${addon} and parent.sort_name is not null`, from: parent, terms: named(sql`parent.sort_name`) },
      ],
      withFirst,
    ),
  ];
}

/**
 * Tickets of a kind that have no name of their own. Their indexes have the order of ids. If they are few, these lead to them
 * in another order, too: the index of that order would lead through all tickets.
 */
async function isNameless(db: Queryable, { filter, names }: Part, isOfKind: Sql): Promise<Sql> {
  const condition = sql`ticket.sort_name is null and ${isOfKind}`;
  if (names.length === 1) return condition;
  const nameless = sql`
             select ticket.id
               from position as ticket
              where ticket.organizer = ${filter.organizer} and ticket.event = ${filter.event} and not ticket.canceled
                and ${condition}
              order by ticket.id`;
  return (await areFew(db, nameless)) ? sql`${condition} and ticket.id = any (array(${nameless}))` : condition;
}

/** Whether a query finds few tickets. Its order leads to an index: Postgres expects more of them than there are. */
async function areFew(db: Queryable, tickets: Sql): Promise<boolean> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count from (${tickets} limit ${fewTickets + 1}) as found`);
  return count <= fewTickets;
}

/** Tickets without an address last. If they are few, they are read by the index of addresses: else by that of the rest. */
async function byAddress(db: Queryable, part: Part): Promise<Stretch[]> {
  const conditions = conditionsOf(part);
  const [beginning, whole, ...rest] = requested(part.names);
  if (beginning === undefined || whole === undefined) throw new Error("addresses are sorted by two terms");
  const terms = [{ ...beginning, isOptional: false }, { ...whole, isOptional: false }, ...rest];
  const { organizer, event } = part.filter;
  const isWithout = sql`${beginning.by} is null`;
  const without = sql`
             select ticket.id
               from position as ticket
              where ticket.organizer = ${organizer} and ticket.event = ${event} and not ticket.canceled and ${isWithout}
              order by ${beginning.by}`;
  const leading = (await areFew(db, without)) ? [beginning] : [];
  return [
    stretch([{ where: sql`${conditions} and ${beginning.by} is not null`, terms }], withFirst),
    stretch([{ where: sql`${conditions} and ${isWithout}`, terms: [...leading, ...rest] }], ([first, , ...others]) =>
      first === null ? [...leading.map(() => null), ...others] : undefined,
    ),
  ];
}

/** The index by number has the newest tickets last. Nearly all tickets have the first number. */
async function byNumber(db: Queryable, part: Part, { descending }: Direction): Promise<readonly Stretch[]> {
  const names = part.names.slice(1);
  const conditions = conditionsOf(part);
  const terms = [{ by: sql`ticket.positionid`, descending }, ...requested(names)];
  const beside = (where: Sql, isThere: (number: number) => boolean) =>
    stretch([{ where: sql`${conditions} and ${where}`, terms }], (place) =>
      isThere(Number(place[0])) ? place : undefined,
    );
  const below = beside(sql`ticket.positionid < 1`, (number) => number < 1);
  const above = beside(sql`ticket.positionid > 1`, (number) => number > 1);
  const isFirst = sql`ticket.positionid = 1`;
  const also = part.also === undefined ? isFirst : sql`${part.also} and ${isFirst}`;
  const ofFirst = await divideBy(db, { ...part, names, also });
  const first = ofFirst.map((each) => under((number) => number === 1, each));
  return descending ? [above, ...first, below] : [below, ...first, above];
}

/** A stretch of the tickets whose value for a term before its own is this one. */
function under(isThere: (value: Value) => boolean, inner: Stretch): Stretch {
  return { ...inner, placeIn: ([first = null, ...others]) => (isThere(first) ? inner.placeIn(others) : undefined) };
}

/** Tickets without a scan on the list first. */
async function byLastScan(db: Queryable, part: Part, { descending }: Direction): Promise<readonly Stretch[]> {
  const { hasCheckin, ...rest } = part.filter;
  const inner = { ...part, names: part.names.slice(1) };
  const known = (count: number) => (part.also === undefined ? { count } : {});
  const stretches: Stretch[] = [];
  if (hasCheckin !== true) {
    const unscanned = { ...rest, hasCheckin: false };
    const count = await countPositions(db, unscanned);
    const lookup = count > fewTickets && part.most <= fewTickets ? "each" : "all";
    const divided = await divideBy(db, { ...inner, filter: unscanned, lookup });
    for (const each of divided)
      stretches.push({ ...under((at) => at === null, each), ...(divided.length === 1 ? known(count) : {}) });
  }
  if (hasCheckin !== false) {
    const scanned = { ...rest, hasCheckin: true };
    const count = await countPositions(db, scanned);
    const last = { ...lastScanned({ ...inner, filter: scanned }, { descending, most: count }), ...known(count) };
    if (descending) stretches.unshift(last);
    else stretches.push(last);
  }
  return stretches;
}

/** Tickets with a scan on the list; they are so many at most. */
function lastScanned(part: Part, { descending, most: all }: Direction & { readonly most: number }): Stretch {
  const conditions = conditionsOf({ ...part, filter: { ...part.filter, hasCheckin: undefined } });
  const isScanned = sql`${conditions} and presence.version is not null`;
  const at: Term = { by: sql`presence.last_at`, from: "presence", descending, isInstant: true };
  const terms = [at, ...requested(part.names)];
  return {
    terms,
    placeIn: withFirst,
    ways: ({ isReversed, most, place }) => {
      const wanted = {
        ...part.filter,
        most,
        newestFirst: descending !== isReversed,
        isReversed,
        from: place?.[0] ?? null,
      };
      // Presences of one instant have the order of tickets that are sorted by nothing more.
      const sorted = part.names.length === 0 ? [amongPresences(wanted)] : [];
      const among = all > 4 * most + fewTickets ? [...amongScans(wanted), ...sorted] : [];
      return [...among.map((where) => sql`${isScanned} and ${where}`), isScanned].map((where) => [{ where, terms }]);
    },
  };
}
