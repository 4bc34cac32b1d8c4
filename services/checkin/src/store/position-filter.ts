import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { OrderStatus } from "../domain/counted-as.ts";
import { type CheckinList, countedOn } from "../domain/list.ts";
import { type NamePlan, planName, type SearchPlan } from "../domain/search-text.ts";
import { hasBlockedCode } from "./blocked-secrets.ts";
import { indexedCharacters, indexedSecret } from "./indexed-secret.ts";
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
  /** False: no ticket can meet the conditions. */
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

const and = "\n       and ";

/** Writes the conditions under which `ticket`, a position, is what the filter asks for. */
export function conditionsOn(filter: PositionFilter): Sql {
  const { search } = filter;
  const listed = isListed(filter);
  return search.kind === "everything" ? listed : joinSql([listed, matchesSearch(filter, { search, listed })], and);
}

/** All of them but the search. */
function isListed(filter: PositionFilter): Sql {
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
    and,
  );
}

function chosen(filter: PositionFilter): Sql[] {
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
       and not ${hasBlockedCode}`;
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

/** The most tickets that a search of one or two letters finds per index: more are too many to choose from. */
const mostByBeginning = 500;

/** A text that sorts behind every text with the same beginning. */
const behindPrefix = "\u{10ffff}";

type Search = Exclude<SearchPlan, { kind: "everything" }>;

/**
 * Finds tickets by names, addresses and companies, their own or those of the ticket they belong to, by the beginning of
 * secret or order code, and by a medium that is linked to them. Each of these subqueries uses its own index; one combined
 * condition would use no index. An array is evaluated once, even if the planner has wrong statistics of a new table.
 */
function matchesSearch(
  filter: PositionFilter,
  { search, listed }: { readonly search: Search; readonly listed: Sql },
): Sql {
  const { organizer, event } = filter;
  const ways = search.kind === "beginnings" ? findFirst(filter, { search, listed }) : findAll(filter, search);
  return sql`ticket.id = any (array(
         ${joinSql(ways, "\n         union all\n         ")}
         union all
         select (linked.position ->> 'id')::bigint
           from reusable_medium
          cross join lateral jsonb_array_elements(reusable_medium.linked_positions) as linked (position)
          where reusable_medium.organizer = ${organizer}
            and reusable_medium.identifier = ${search.codePrefix}
            and linked.position ->> 'event' = ${event}))`;
}

function findAll({ organizer, event }: EventKey, search: Extract<Search, { kind: "anywhere" }>): readonly Sql[] {
  const ofEvent = sql`ticket.organizer = ${organizer} and ticket.event = ${event}`;
  return [
    sql`(with named as (
           select ticket.id from position as ticket where ${ofEvent} and ticket.search_text like ${search.pattern}
         )
         ${withAddons({ organizer, event })})`,
    sql`select ticket.id from position as ticket where ${ofEvent} and ${hasSecret(search)}`,
    sql`select ticket.id from position as ticket where ${ofEvent} and ${hasOrderCode(search)}`,
  ];
}

/**
 * The other conditions apply before the bound: otherwise a list would show no ticket of its own if enough other tickets
 * have the same name. Each subquery has a total order, so that the count and every page are about the same tickets.
 */
function findFirst(
  { organizer, event }: EventKey,
  { search, listed }: { readonly search: Extract<Search, { kind: "beginnings" }>; readonly listed: Sql },
): readonly Sql[] {
  const patterns = sql`${search.patterns}::text[]`;
  return [
    sql`(select ticket.id
            from position as ticket
           where ${listed} and ticket.search_text like any(${patterns})
           order by ticket.id
           limit ${mostByBeginning})`,
    sql`(with named as materialized (
            select found.id
              from position as found
             where found.organizer = ${organizer} and found.event = ${event} and found.search_text like any(${patterns})
          )
          select ticket.id
            from named
            join position as ticket
              on ticket.organizer = ${organizer} and ticket.event = ${event} and ticket.addon_to = named.id
           where ${listed}
           order by ticket.id
           limit ${mostByBeginning})`,
    // The shortest first, so that the code itself is never cut off.
    sql`(select ticket.id
            from position as ticket
           where ${listed} and ${hasSecret(search)}
           order by ${indexedSecret(sql`ticket.secret`)}, ticket.id
           limit ${mostByBeginning})`,
    sql`(select ticket.id
            from position as ticket
           where ${listed} and ${hasOrderCode(search)}
           order by upper(ticket.order_code), ticket.id
           limit ${mostByBeginning})`,
  ];
}

function hasSecret({ codePrefix }: Search): Sql {
  const from = indexedSecret(sql`${codePrefix} collate "C"`);
  const isLonger = [...codePrefix].length > indexedCharacters;
  return sql`${indexedSecret(sql`ticket.secret`)} >= ${from}
             and ${indexedSecret(sql`ticket.secret`)} < ${from} || ${behindPrefix}
             ${isLonger ? sql`and starts_with(lower(ticket.secret), lower(${codePrefix} collate "C"))` : sql``}`;
}

function hasOrderCode({ codePrefix }: Search): Sql {
  const from = sql`upper(${codePrefix} collate "C")`;
  return sql`upper(ticket.order_code) >= ${from} and upper(ticket.order_code) < ${from} || ${behindPrefix}`;
}
