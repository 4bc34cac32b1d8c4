import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { CountedAs, OrderStatus } from "../domain/counted-as.ts";
import { type CheckinList, countedOn } from "../domain/list.ts";
import { type NamePlan, planName, type Search, type SearchPlan } from "../domain/search-text.ts";
import { indexedSecret } from "./indexed-secret.ts";
import type { EventKey } from "./keys.ts";

/** Which tickets of a list are wanted. Canceled ones are on no list. */
export interface PositionFilter extends EventKey, PositionChoice {
  readonly list: CheckinList;
  /** Regardless of the state of the order. */
  readonly ignoreStatus: boolean;
  readonly id: number | undefined;
}

/** Which of the tickets of a list are wanted: those that meet all conditions. An undefined condition does not count. */
export interface PositionChoice {
  readonly search: SearchPlan;
  /** An order code, in any case. */
  readonly orderCode: string | undefined;
  /** The name on the ticket, or on the one that it is an add-on of, as people read it. */
  readonly attendeeName: string | undefined;
  readonly secret: string | undefined;
  readonly pseudonymizationId: string | undefined;
  readonly voucher: number | undefined;
  /** A ticket is in each of these sets, here and below. */
  readonly items: readonly (readonly number[])[];
  readonly variations: readonly (readonly number[])[];
  readonly subevents: readonly (readonly number[])[];
  readonly addonTo: readonly (readonly number[])[];
  readonly orderStatuses: readonly OrderStatus[] | undefined;
  /** A successful scan on the list, of either type. */
  readonly hasCheckin: boolean | undefined;
  /** Neither blocked nor out of its time at this instant. */
  readonly usableAt: number | undefined;
  /** All that are not usable then, if they are known. */
  readonly unusable?: readonly number[] | undefined;
  /** False: no ticket can meet the conditions. */
  readonly isPossible: boolean;
}

/** Whether a filter has a text to search for. */
export function isSearch(filter: PositionFilter): filter is PositionFilter & { readonly search: Search } {
  return filter.search.kind !== "everything";
}

/** The choice that leaves nothing out. */
export const everyPosition: PositionChoice = {
  search: { kind: "everything" },
  orderCode: undefined,
  attendeeName: undefined,
  secret: undefined,
  pseudonymizationId: undefined,
  voucher: undefined,
  items: [],
  variations: [],
  subevents: [],
  addonTo: [],
  orderStatuses: undefined,
  hasCheckin: undefined,
  usableAt: undefined,
  isPossible: true,
};

/** How the tickets count that a filter leaves: it follows from the states of orders that are wanted. */
export function countedOf({ list, ignoreStatus, orderStatuses }: PositionFilter): readonly CountedAs[] {
  const states = ignoreStatus ? everyCount : countedOn(list);
  return orderStatuses === undefined
    ? states
    : states.filter((state) => orderStatuses.includes(state === "paid" ? "paid" : "pending"));
}

const everyCount: readonly CountedAs[] = ["paid", "pending_valid", "pending"];

const and = "\n       and ";

/**
 * How to find out whether tickets were scanned: each by itself, which is fast if few tickets are looked at to find the
 * wanted ones, or all of them at once.
 */
export type ScanLookup = "each" | "all";

/** So few scanned tickets, or tickets without a scan, are found by what was scanned on the list, not one by one. */
export const fewTickets = 5000;

/** Writes the conditions under which `ticket`, a position, is what the filter asks for, whatever is searched. */
export function conditionsOn(filter: PositionFilter, lookup: ScanLookup = "each"): Sql {
  const { organizer, event, list, id } = filter;
  return joinSql(
    [
      sql`ticket.organizer = ${organizer} and ticket.event = ${event} and not ticket.canceled`,
      ...(list.subevent === null ? [] : [sql`ticket.subevent = ${list.subevent}`]),
      ...(list.allProducts ? [] : [sql`ticket.item = any(${list.limitProducts}::bigint[])`]),
      ...(filter.ignoreStatus ? [] : [sql`ticket.counted_as = any(${countedOf(filter)}::text[])`]),
      ...(id === undefined ? [] : [sql`ticket.id = ${id}`]),
      ...chosen(filter, lookup),
    ],
    and,
  );
}

function chosen(filter: PositionFilter, lookup: ScanLookup): Sql[] {
  const { orderCode, attendeeName, secret, pseudonymizationId, voucher, orderStatuses, usableAt } = filter;
  return [
    ...(filter.isPossible ? [] : [sql`false`]),
    ...(orderCode === undefined ? [] : [sql`upper(ticket.order_code) = upper(${orderCode} collate "C")`]),
    ...(attendeeName === undefined ? [] : [isNamed(filter, planName(attendeeName))]),
    ...(secret === undefined
      ? []
      : [
          sql`${indexedSecret(sql`ticket.secret`)} = ${indexedSecret(sql`${secret} collate "C"`)} and ticket.secret = ${secret}`,
        ]),
    ...(pseudonymizationId === undefined ? [] : [sql`ticket.pseudonymization_id = ${pseudonymizationId}`]),
    ...(voucher === undefined ? [] : [sql`ticket.voucher = ${voucher}`]),
    ...filter.items.map((ids) => sql`ticket.item = any(${ids}::bigint[])`),
    ...filter.variations.map((ids) => sql`ticket.variation = any(${ids}::bigint[])`),
    ...filter.subevents.map((ids) => sql`ticket.subevent = any(${ids}::bigint[])`),
    ...filter.addonTo.map((ids) => sql`ticket.addon_to = any(${ids}::bigint[])`),
    ...(orderStatuses === undefined || !filter.ignoreStatus
      ? []
      : [sql`ticket.order_status = any(${orderStatuses}::text[])`]),
    ...(filter.hasCheckin === undefined ? [] : [wasScanned(filter, filter.hasCheckin ? sql`` : sql`not`, lookup)]),
    ...(usableAt === undefined ? [] : isUsable(filter, toTimestamp(usableAt))),
  ];
}

function wasScanned({ list }: PositionFilter, negation: Sql, lookup: ScanLookup): Sql {
  const presence = sql`
           from presence
          where presence.organizer = ticket.organizer and presence.event = ticket.event
            and presence.position = ticket.id and presence.list = ${list.id}`;
  if (lookup === "all") return sql`${negation} exists (select ${presence})`;
  // A subquery for one value is looked up by key for each ticket; `exists` may become a join with all presences.
  return sql`${negation} coalesce((select true ${presence} limit 1), false)`;
}

/** The positions called `limited` that are blocked or have a time of their own, written as their index has it. */
const hasLimits = sql`(limited.blocked or limited.valid_from_at is not null or limited.valid_until_at is not null)`;

/** Whether the position called `limited` is blocked or out of its time. */
function isOut(at: string): Sql {
  return sql`(limited.blocked or limited.valid_from_at > ${at}::timestamptz or limited.valid_until_at < ${at}::timestamptz)`;
}

/** The positions whose code is one of those that are blocked. */
function withBlockedCode({ organizer, event }: EventKey): Sql {
  return sql`
         select coded.id
           from blocked_secret
           join position as coded
             on coded.organizer = ${organizer} and coded.event = ${event} and coded.secret = blocked_secret.secret
                and ${indexedSecret(sql`coded.secret`)} = ${indexedSecret(sql`blocked_secret.secret`)}
          where blocked_secret.organizer = ${organizer} and blocked_secret.event = ${event} and blocked_secret.blocked`;
}

/** The positions that are blocked or out of their time. Few tickets are blocked or have a time of their own, and those have an index. */
export function unusable({ organizer, event }: EventKey, at: string): Sql {
  return sql`
         select limited.id
           from position as limited
          where limited.organizer = ${organizer} and limited.event = ${event} and ${hasLimits} and ${isOut(at)}
         union ${withBlockedCode({ organizer, event })}`;
}

/**
 * Whether `ticket` is neither blocked nor out of its time. Nearly all are neither, which their indexes tell: the ticket
 * itself is not read for that.
 */
function isUsable({ unusable: known, ...key }: PositionFilter, at: string): readonly Sql[] {
  if (known !== undefined) return known.length === 0 ? [] : [sql`ticket.id <> all(${known}::bigint[])`];
  return [
    sql`
         not coalesce((select true
                         from position as limited
                        where limited.organizer = ticket.organizer and limited.event = ticket.event
                          and limited.id = ticket.id and ${hasLimits} and ${isOut(at)}
                        limit 1), false)`,
    sql`ticket.id not in (${withBlockedCode(key)})`,
  ];
}

/** The name is the first of the lines that a ticket is found by, where it has one. */
function isNamed({ organizer, event }: EventKey, { beginning, line }: NamePlan): Sql {
  return sql`ticket.id = any (array(
         with named as (
           select found.id
             from position as found
            where found.organizer = ${organizer} and found.event = ${event} and found.attendee_name <> ''
              and found.search_text like ${beginning}
              and found.search_text || chr(10) like ${line}
         )
         select named.id from named
         union all
         select addon.id
           from named
           join position as addon
             on addon.organizer = ${organizer} and addon.event = ${event} and addon.addon_to = named.id))`;
}
