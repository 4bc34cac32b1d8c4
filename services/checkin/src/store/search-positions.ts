import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Search } from "../domain/search-text.ts";
import { indexedCharacters, indexedSecret } from "./indexed-secret.ts";
import { conditionsOn, type PositionFilter } from "./position-filter.ts";

/** The most tickets that a search finds in each way: more are too many to choose from. */
const mostFound = 500;

/** The most matching tickets whose add-ons are looked for. */
const mostParents = 5000;

/** In an event this small each ticket is tested: the trigram index covers all events. */
const smallEvent = 25_000;

/** Sorts after every text with the same prefix. */
const behindPrefix = "\u{10ffff}";

/** The columns that conditions may use. Organizer and event are expressions, so that no index of the event fits. */
const columns = sql`
  ticket.organizer || '' as organizer, ticket.event || '' as event, ticket.id, ticket.canceled, ticket.subevent, ticket.item, ticket.variation, ticket.addon_to,
  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at`;

/**
 * Finds tickets by names, addresses and companies, their own or their base ticket's, by prefix of secret or order code,
 * and by a linked medium: a bounded number in each way. The filter applies before the bounds, so that a list shows its
 * own tickets however many others match. Tickets of a medium may be on another list.
 */
export async function searchPositions(
  tx: Queryable,
  filter: PositionFilter & { readonly search: Search },
): Promise<number[]> {
  const { organizer, event, search } = filter;
  const ofEvent = sql`ticket.organizer = ${organizer} and ticket.event = ${event}`;
  const listed = conditionsOn(filter);
  const { ids } = await tx.one<{ ids: number[] }>(sql`
    with known as materialized (
      select not exists (select
                           from position as ticket
                          where ${ofEvent}
                          order by ticket.organizer, ticket.event, ticket.id
                          limit 1 offset ${smallEvent}) as "isSmall",
             exists (select from position as ticket where ${ofEvent} and ticket.addon_to is not null) as "hasAddons"
    ), named as materialized (
      ${withText(search, { where: sql`(select known."hasAddons" from known) and ${ofEvent}`, most: mostParents })}
    ), found as (
      ${withText(search, { where: listed, most: mostFound })}
      union
      (select ticket.id
         from named
         join position as ticket on ${ofEvent} and ticket.addon_to = named.id
        where ${listed}
        limit ${mostFound})
      union
      -- The shortest first, so that the code itself is within the limit.
      (select ticket.id
         from position as ticket
        where ${listed} and ${hasSecret(search)}
        order by ${indexedSecret(sql`ticket.secret`)}, ticket.id
        limit ${mostFound})
      union
      (select ticket.id
         from position as ticket
        where ${listed} and ${hasOrderCode(search)}
        order by upper(ticket.order_code), ticket.id
        limit ${mostFound})
      union
      select (linked.position ->> 'id')::bigint
        from reusable_medium
       cross join lateral jsonb_array_elements(reusable_medium.linked_positions) as linked (position)
       where reusable_medium.organizer = ${organizer}
         and reusable_medium.identifier = ${search.codePrefix}
         and linked.position ->> 'event' = ${event}
    )
    select array(select found.id from found) as ids`);
  return ids;
}

/**
 * Selects tickets by their search text: in a small event by testing each, else by the trigram index. Conditions are on
 * expressions, not on columns, so that the planner uses no other index.
 */
function withText({ patterns, indexed }: Search, { where, most }: { readonly where: Sql; readonly most: number }): Sql {
  const hasText = sql`ticket.search_text || '' like any(${patterns}::text[])`;
  return sql`
      (select ticket.id
         from position as ticket
        where (select known."isSmall" from known) and ${hasText} and ${where}
        order by ticket.id
        limit ${most})
      union all
      (select ticket.id
         from (select ${columns}
                 from position as ticket
                where not (select known."isSmall" from known)
                  and ticket.search_text like any(${indexed}::text[]) and ${hasText}) as ticket
        where ${where}
        limit ${most})`;
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
