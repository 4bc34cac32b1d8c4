import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { OrderStatus } from "../domain/counted-as.ts";
import { type CheckinList, countedOn } from "../domain/list.ts";
import { type NamePlan, planName, type SearchPlan } from "../domain/search-text.ts";
import { indexedCharacters, indexedSecret } from "./indexed-secret.ts";
import type { EventKey } from "./keys.ts";

/** Which tickets of a list are wanted. Canceled ones are on no list. */
export interface PositionFilter extends EventKey, PositionChoice {
  readonly list: CheckinList;
  /** Regardless of the state of the order. */
  readonly ignoreStatus: boolean;
  readonly id: number | undefined;
}

/** What of the tickets that a list has is wanted: all of it holds, and what is undefined does not count. */
export interface PositionChoice {
  readonly search: SearchPlan;
  /** An order code, in any case. */
  readonly orderCode: string | undefined;
  /** The name on the ticket, or on the one that it is an add-on of, as people read it. */
  readonly attendeeName: string | undefined;
  readonly secret: string | undefined;
  readonly pseudonymizationId: string | undefined;
  readonly voucher: number | undefined;
  /** Of several each holds, here and below. */
  readonly items: readonly (readonly number[])[];
  readonly variations: readonly (readonly number[])[];
  readonly subevents: readonly (readonly number[])[];
  readonly addonTo: readonly (readonly number[])[];
  readonly orderStatuses: readonly OrderStatus[] | undefined;
  /** A successful scan on the list, of either type. */
  readonly hasCheckin: boolean | undefined;
  /** Neither blocked nor out of its time at this instant. */
  readonly usableAt: number | undefined;
  /** False: no ticket can be what is asked for. */
  readonly isPossible: boolean;
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

/** Writes the conditions under which `ticket`, a position, is what the filter asks for. */
export function conditionsOn(filter: PositionFilter): Sql {
  const { organizer, event, list, id } = filter;
  return joinSql(
    [
      sql`ticket.organizer = ${organizer} and ticket.event = ${event} and not ticket.canceled`,
      ...(list.subevent === null ? [] : [sql`ticket.subevent = ${list.subevent}`]),
      ...(list.allProducts ? [] : [sql`ticket.item = any(${list.limitProducts}::bigint[])`]),
      ...(filter.ignoreStatus ? [] : [sql`ticket.counted_as = any(${countedOn(list)}::text[])`]),
      ...(id === undefined ? [] : [sql`ticket.id = ${id}`]),
      ...chosen(filter),
    ],
    "\n       and ",
  );
}

function chosen(filter: PositionFilter): Sql[] {
  const { search, orderCode, attendeeName, secret, pseudonymizationId, voucher, orderStatuses, usableAt } = filter;
  return [
    ...(filter.isPossible ? [] : [sql`false`]),
    ...(search.kind === "everything" ? [] : [matchesSearch(filter, search)]),
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
    ...(orderStatuses === undefined ? [] : [sql`ticket.order_status = any(${orderStatuses}::text[])`]),
    ...(filter.hasCheckin === undefined ? [] : [wasScanned(filter, filter.hasCheckin ? sql`` : sql`not`)]),
    ...(usableAt === undefined ? [] : [isUsable(toTimestamp(usableAt))]),
  ];
}

function wasScanned({ list }: PositionFilter, negation: Sql): Sql {
  return sql`${negation} exists (
         select from presence as scanned
          where scanned.organizer = ticket.organizer and scanned.event = ticket.event
            and scanned.position = ticket.id and scanned.list = ${list.id})`;
}

function isUsable(at: string): Sql {
  return sql`not ticket.blocked
       and (ticket.valid_from_at is null or ticket.valid_from_at <= ${at}::timestamptz)
       and (ticket.valid_until_at is null or ticket.valid_until_at >= ${at}::timestamptz)
       and not exists (
         select from blocked_secret
          where blocked_secret.organizer = ticket.organizer and blocked_secret.event = ticket.event
            and ${indexedSecret(sql`blocked_secret.secret`)} = ${indexedSecret(sql`ticket.secret`)}
            and blocked_secret.secret = ticket.secret and blocked_secret.blocked)`;
}

/** Adds to the tickets called `named` those that are add-ons of one of them. */
function withAddons({ organizer, event }: EventKey): Sql {
  return sql`
         select named.id from named
         union all
         select addon.id
           from named
           join position as addon
             on addon.organizer = ${organizer} and addon.event = ${event} and addon.addon_to = named.id`;
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
         ${withAddons({ organizer, event })}))`;
}

/** So many tickets a search of one or two letters looks at, per way of finding them: it tells too little to be worth more. */
const mostByBeginning = 500;

/** A text that sorts behind every text with the same beginning. */
const behindPrefix = "\u{10ffff}";

/**
 * Finds tickets by names, addresses and companies, their own or those of the
 * ticket they belong to, by the beginning of secret or order code, and by a
 * medium that stands for them. Each way has its index; as one condition they
 * would have none. An array is made once, whatever the planner believes of a
 * table that has just been filled.
 */
function matchesSearch({ organizer, event }: EventKey, search: Exclude<SearchPlan, { kind: "everything" }>): Sql {
  const ofEvent = sql`found.organizer = ${organizer} and found.event = ${event}`;
  const bound = search.kind === "beginnings" ? sql`limit ${mostByBeginning}` : sql``;
  // Of those that are cut off, none is the code itself.
  const shortestFirst = search.kind === "beginnings" ? sql`order by ${indexedSecret(sql`found.secret`)}` : sql``;
  const hasText =
    search.kind === "beginnings"
      ? sql`found.search_text like any(${search.patterns}::text[])`
      : sql`found.search_text like ${search.pattern}`;
  const from = indexedSecret(sql`${search.codePrefix} collate "C"`);
  const isLonger = [...search.codePrefix].length > indexedCharacters;
  const fromCode = sql`upper(${search.codePrefix} collate "C")`;
  return sql`ticket.id = any (array(
         with named as (
           select found.id from position as found where ${ofEvent} and ${hasText} ${bound}
         )
         ${withAddons({ organizer, event })}
         union all
         (select found.id
            from position as found
           where ${ofEvent}
             and ${indexedSecret(sql`found.secret`)} >= ${from}
             and ${indexedSecret(sql`found.secret`)} < ${from} || ${behindPrefix}
             ${isLonger ? sql`and starts_with(lower(found.secret), lower(${search.codePrefix} collate "C"))` : sql``}
           ${shortestFirst}
           ${bound})
         union all
         (select found.id
            from position as found
           where ${ofEvent}
             and upper(found.order_code) >= ${fromCode}
             and upper(found.order_code) < ${fromCode} || ${behindPrefix}
           ${bound})
         union all
         select (linked.position ->> 'id')::bigint
           from reusable_medium
          cross join lateral jsonb_array_elements(reusable_medium.linked_positions) as linked (position)
          where reusable_medium.organizer = ${organizer}
            and reusable_medium.identifier = ${search.codePrefix}
            and linked.position ->> 'event' = ${event}))`;
}
