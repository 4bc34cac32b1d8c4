import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { countPositions } from "./count-positions.ts";
import { conditionsOn, fewTickets, type PositionFilter } from "./position-filter.ts";
import { byNewest, type Joined, knownOrderings, type Term } from "./position-order.ts";

/** Tickets that indexes lead to in the order of the terms. */
export interface Source {
  readonly where: Sql;
  readonly terms: readonly Term[];
  /** What the condition uses beside `ticket`. */
  readonly from?: readonly Joined[];
}

/** The tickets of these sources, merged. All sources have as many terms, in the same directions. */
export type Block = readonly Source[];

/** Tickets that are all before or behind those of the other blocks. */
export interface Stretch {
  /** If it is known. */
  readonly count?: number;
  /**
   * How the first tickets of its order, or of the reverse, can be read. Each way but the last may miss tickets that
   * follow the first ones; so it counts only if it leads to as many as are wanted.
   */
  ways(first: { readonly isReversed: boolean; readonly most: number }): readonly Block[];
}

/**
 * Divides a list, whatever is searched, for an order that no single index has. Undefined: an index has it, or no division
 * helps.
 */
export async function divide(
  db: Queryable,
  filter: PositionFilter,
  ordering: readonly string[],
): Promise<readonly Stretch[] | undefined> {
  const [name, ...others] = knownOrderings(ordering);
  if (name === undefined || others.length > 0) return undefined;
  switch (name) {
    case "attendee_name":
      return byShownName(filter, { descending: false });
    case "-attendee_name":
      return byShownName(filter, { descending: true }).reverse();
    case "last_checked_in":
      return byLastScan(db, filter, { descending: false });
    case "-last_checked_in":
      return (await byLastScan(db, filter, { descending: true })).reverse();
    case "positionid":
      return byNumber(filter);
    default:
      return undefined;
  }
}

interface Direction {
  readonly descending: boolean;
}

function stretch(block: Block): Stretch {
  return { ways: () => [block] };
}

/** Nameless tickets first. Few are add-ons without a name, which are sorted by another ticket's. */
function byShownName(filter: PositionFilter, { descending }: Direction): Stretch[] {
  const conditions = conditionsOn(filter);
  const single = sql`${conditions} and ticket.sort_name is null and ticket.addon_to is null`;
  const addon = sql`${conditions} and ticket.sort_name is null and ticket.addon_to is not null`;
  const parent = ["parent"] as const;
  const named = (by: Sql): readonly Term[] => [{ by, descending }, byNewest];
  return [
    stretch([
      { where: single, terms: [byNewest] },
      { where: sql`${addon} and parent.sort_name is null`, from: parent, terms: [byNewest] },
    ]),
    stretch([
      { where: sql`${conditions} and ticket.sort_name is not null`, terms: named(sql`ticket.sort_name`) },
      { where: sql`${addon} and parent.sort_name is not null`, from: parent, terms: named(sql`parent.sort_name`) },
    ]),
  ];
}

/** The index by number has the newest tickets last. Nearly all tickets have the first number. */
function byNumber(filter: PositionFilter): Stretch[] {
  const conditions = conditionsOn(filter);
  const terms = [{ by: sql`ticket.positionid` }, byNewest];
  return [
    stretch([{ where: sql`${conditions} and ticket.positionid < 1`, terms }]),
    stretch([{ where: sql`${conditions} and ticket.positionid = 1`, terms: [byNewest] }]),
    stretch([{ where: sql`${conditions} and ticket.positionid > 1`, terms }]),
  ];
}

/** Tickets without a scan on the list first. */
async function byLastScan(
  db: Queryable,
  { hasCheckin, ...rest }: PositionFilter,
  { descending }: Direction,
): Promise<Stretch[]> {
  const scanned = { ...rest, hasCheckin: true };
  const unscanned = { ...rest, hasCheckin: false };
  const terms = [{ by: sql`presence.last_at`, from: "presence" as const, descending }, byNewest];
  const counts = {
    unscanned: hasCheckin === true ? 0 : await countPositions(db, unscanned),
    scanned: hasCheckin === false ? 0 : await countPositions(db, scanned),
  };
  const all = conditionsOn({ ...rest, hasCheckin: undefined });
  const isScanned = sql`${all} and presence.version is not null`;
  return [
    {
      count: counts.unscanned,
      ways: ({ most }) => {
        const lookup = counts.unscanned > fewTickets && most <= fewTickets ? "each" : "all";
        return [[{ where: conditionsOn(unscanned, lookup), terms: [byNewest] }]];
      },
    },
    {
      count: counts.scanned,
      ways: ({ isReversed, most }) => {
        const wanted = { ...scanned, most, newestFirst: descending !== isReversed, isReversed };
        const among = counts.scanned > 4 * most + fewTickets ? [...amongScans(wanted), amongPresences(wanted)] : [];
        return [...among.map((where) => sql`${isScanned} and ${where}`), isScanned].map((where) => [{ where, terms }]);
      },
    },
  ];
}

interface WantedScans extends PositionFilter {
  readonly most: number;
  readonly newestFirst: boolean;
  readonly isReversed: boolean;
}

/** At most so many scans of an event are read, which takes a moment. */
const mostScans = 30_000;

/**
 * Those whose last scan is among the first scans of the event: no index has the presences by time, because each scan would
 * have to change it. At the edge there may be scans of the same instant that are not read.
 */
function amongScans({ organizer, event, list, most, newestFirst }: WantedScans): readonly Sql[] {
  const read = 4 * most + fewTickets;
  if (read > mostScans) return [];
  const direction = newestFirst ? sql`desc` : sql`asc`;
  const scans = sql`
             from scan
            where scan.organizer = ${organizer} and scan.event = ${event}
            order by scan.at ${direction}, scan.id ${direction}`;
  const none = newestFirst ? sql`'-infinity'` : sql`'infinity'`;
  return [
    sql`ticket.id = any (array(
           select first.position
             from (select scan.position, scan.list, scan.successful ${scans} limit ${read}) as first
            where first.list = ${list.id} and first.successful))
       and presence.last_at ${newestFirst ? sql`>` : sql`<`}
           coalesce((select scan.at ${scans} limit 1 offset ${read}), ${none}::timestamptz)`,
  ];
}

/** The first of all that were scanned, of which the filter may leave some out: they are sorted without their tickets. */
function amongPresences({ organizer, event, list, most, newestFirst, isReversed }: WantedScans): Sql {
  return sql`ticket.id = any (array(
           select first.position
             from presence as first
            where first.organizer = ${organizer} and first.event = ${event} and first.list = ${list.id}
            order by first.last_at ${newestFirst ? sql`desc` : sql`asc`},
                     first.position ${isReversed ? sql`asc` : sql`desc`}
            limit ${2 * most + fewTickets}))`;
}
