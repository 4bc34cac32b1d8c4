import type { OrderStatus } from "@tessera/admission";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { CountedAs } from "../domain/counted-as.ts";
import { type CheckinList, countedOn } from "../domain/list.ts";
import { type NamePlan, planName, type Search, type SearchPlan } from "../domain/search-text.ts";
import { indexedSecret } from "./indexed-secret.ts";
import type { EventKey } from "./keys.ts";

/** Which tickets of a list are wanted. Canceled tickets are on no list. */
export interface PositionFilter extends EventKey, PositionChoice {
  readonly list: CheckinList;
  /** Regardless of the state of the order. */
  readonly ignoreStatus: boolean;
  readonly id: number | undefined;
}

/** Which tickets of a list are wanted: those that meet all conditions. Undefined conditions do not count. */
export interface PositionChoice {
  readonly search: SearchPlan;
  /** An order code; letter case is ignored. */
  readonly orderCode: string | undefined;
  /** The name on the ticket or on its base ticket, compared like a search. */
  readonly attendeeName: string | undefined;
  readonly secret: string | undefined;
  readonly pseudonymizationId: string | undefined;
  readonly voucher: number | undefined;
  /** The ticket must be in each of these sets; likewise the sets below. */
  readonly items: readonly (readonly number[])[];
  readonly variations: readonly (readonly number[])[];
  readonly subevents: readonly (readonly number[])[];
  readonly addonTo: readonly (readonly number[])[];
  readonly orderStatuses: readonly OrderStatus[] | undefined;
  /** Whether the ticket has a successful scan on the list, of either type. */
  readonly hasCheckin: boolean | undefined;
  /** The ticket is valid and not blocked at this instant. */
  readonly usableAt: number | undefined;
  /** All tickets that are unusable at `usableAt`, if they are known. */
  readonly unusable?: readonly number[] | undefined;
  /** False: no ticket can meet the conditions. */
  readonly isPossible: boolean;
}

export function isSearch(filter: PositionFilter): filter is PositionFilter & { readonly search: Search } {
  return filter.search.kind !== "everything";
}

/** The choice without conditions. */
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

/** The counted states of the tickets that a filter leaves, from the requested states of orders. */
export function countedOf({ list, ignoreStatus, orderStatuses }: PositionFilter): readonly CountedAs[] {
  const states = ignoreStatus ? everyCount : countedOn(list);
  return orderStatuses === undefined
    ? states
    : states.filter((state) => orderStatuses.includes(state === "paid" ? "paid" : "pending"));
}

const everyCount: readonly CountedAs[] = ["paid", "pending_valid", "pending"];

const and = "\n       and ";

/** How to test whether tickets were scanned: one by one, which is fast for few tickets, or all at once. */
export type ScanLookup = "each" | "all";

/** Up to this many tickets, with or without a scan, are found through the presences of the list, not one by one. */
export const fewTickets = 5000;

/** Writes the conditions of a filter without a search on `ticket`, a position. */
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
            and presence.position = ticket.id and presence.list = ${list.id} and presence.last_type is not null`;
  if (lookup === "all") return sql`${negation} exists (select ${presence})`;
  // A scalar subquery stays a lookup by key for each ticket; `exists` may become a join with all presences.
  return sql`${negation} coalesce((select true ${presence} limit 1), false)`;
}

/** Whether `limited` is blocked or has a validity period: the predicate of a partial index. */
const hasLimits = sql`(limited.blocked or limited.valid_from_at is not null or limited.valid_until_at is not null)`;

/** Whether `limited` is blocked or outside its validity period. */
function isOut(at: string): Sql {
  return sql`(limited.blocked or limited.valid_from_at > ${at}::timestamptz or limited.valid_until_at < ${at}::timestamptz)`;
}

function withBlockedCode({ organizer, event }: EventKey): Sql {
  return sql`
         select coded.id
           from blocked_secret
           join position as coded
             on coded.organizer = ${organizer} and coded.event = ${event} and coded.secret = blocked_secret.secret
                and ${indexedSecret(sql`coded.secret`)} = ${indexedSecret(sql`blocked_secret.secret`)}
          where blocked_secret.organizer = ${organizer} and blocked_secret.event = ${event} and blocked_secret.blocked`;
}

/** Selects the positions that are blocked or outside their validity period, by the partial index of such positions. */
export function unusable({ organizer, event }: EventKey, at: string): Sql {
  return sql`
         select limited.id
           from position as limited
          where limited.organizer = ${organizer} and limited.event = ${event} and ${hasLimits} and ${isOut(at)}
         union ${withBlockedCode({ organizer, event })}`;
}

/** Whether `ticket` is valid and not blocked. Nearly all are: index-only lookups say so without reading the ticket. */
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

/** The name is the first line of the search text, if the ticket has a name. */
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
