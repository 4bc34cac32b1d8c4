import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Search } from "../domain/search-text.ts";
import { indexedCharacters, indexedSecret } from "./indexed-secret.ts";
import { conditionsOn, type PositionFilter } from "./position-filter.ts";

/** The most tickets that a search finds in each way: more are too many to choose from. */
const mostFound = 500;

/**
 * The first tickets of an event are read through for a text that many have: it is found among them before the index, which
 * has no first ones, would be through with its many entries. Events with fewer tickets need no index.
 */
const readThrough = 25_000;

/** Tickets at equal distances of ids tell whether many have a text. Of each place some are read, which costs little more than one. */
const sample = { places: 100, ofEach: 25 };

/** What a smaller sample says counts for nothing: most ids of the event may lie close together, with a few far away. */
const fewestSampled = 1000;

/** One of so many tickets has a text that many have: the first tickets that are read through have `mostFound` with it. */
const oneOf = 45;

/** A text that sorts behind every text with the same beginning. */
const behindPrefix = "\u{10ffff}";

/** What conditions on tickets may use. */
const columns = sql`
  ticket.organizer, ticket.event, ticket.id, ticket.canceled, ticket.subevent, ticket.item, ticket.variation, ticket.addon_to,
  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at`;

/** What one search looks for. */
interface Wanted {
  readonly search: Search;
  readonly ofEvent: Sql;
  /** The other conditions of the filter. They apply before the bounds: a list shows its own tickets, however many others match. */
  readonly listed: Sql;
  readonly patterns: Sql;
}

/**
 * Finds tickets by names, addresses and companies, their own or those of the ticket they belong to, by the beginning of
 * secret or order code, and by a medium that is linked to them: a bounded number in each way. Each way has a total order, so
 * that all pages are about the same tickets. Those of a medium may be on another list.
 */
export async function searchPositions(
  tx: Queryable,
  filter: PositionFilter & { readonly search: Search },
): Promise<number[]> {
  const { organizer, event, search } = filter;
  const wanted: Wanted = {
    search,
    ofEvent: sql`ticket.organizer = ${organizer} and ticket.event = ${event}`,
    listed: conditionsOn(filter),
    patterns: sql`${search.patterns}::text[]`,
  };
  const { ids, isPartial, isHostCommon } = await tx.one<{ ids: number[]; isPartial: boolean; isHostCommon: boolean }>(
    searchFirst(filter, wanted),
  );
  if (!isPartial) return ids;
  const indexed = isHostCommon && search.address !== undefined ? [search.address.mailbox] : search.patterns;
  const more = await tx.one<{ ids: number[] }>(searchIndex(wanted, indexed));
  return [...new Set([...ids, ...more.ids])];
}

/** Looks for texts in the first tickets of the event, if they may have many of them, and for codes and media in all. */
function searchFirst({ organizer, event }: PositionFilter, { search, ofEvent, listed, patterns }: Wanted): Sql {
  const inOrder = sql`order by ticket.organizer, ticket.event, ticket.id`;
  const backwards = sql`order by ticket.organizer desc, ticket.event desc, ticket.id desc`;
  const { address } = search;
  const hasMore = (than: number) =>
    sql`exists (select from position as ticket where ${ofEvent} ${inOrder} limit 1 offset ${than})`;
  const isRead = sql`(select reading.through from reading)`;
  const addonsInOrder = sql`ticket.addon_to is not null order by ticket.addon_to, ticket.id`;
  return sql`
    with bounds as materialized (
      select (select ticket.id from position as ticket where ${ofEvent} ${inOrder} limit 1) as first,
             (select ticket.id from position as ticket where ${ofEvent} ${backwards} limit 1) as last
    ), sampled as materialized (
      select count(*) as tickets,
             count(*) filter (where found.search_text like any(${patterns})) as matching,
             count(*) filter (where found.search_text like ${address?.host ?? null}::text) as "withHost",
             count(*) filter (where found.search_text like ${address?.name ?? null}::text) as "withName"
        from (select distinct on (ticket.id) ticket.id, ticket.search_text
                from bounds
               cross join generate_series(0, ${sample.places}::integer - 1) as place (number)
               cross join lateral (
                 select ticket.id, ticket.search_text
                   from position as ticket
                  where ${ofEvent}
                    and ticket.id >= bounds.first + (bounds.last - bounds.first) * place.number / ${sample.places}::integer
                  ${inOrder}
                  limit ${sample.ofEach}) as ticket) as found
    ), reading as materialized (
      select not ${hasMore(sample.places * sample.ofEach)}
             or (select sampled.tickets < ${fewestSampled} or sampled.matching * ${oneOf} >= sampled.tickets from sampled)
             or not ${hasMore(readThrough)} as through
    ), own as materialized (
      select ticket.id
        from (select ${columns}, ticket.search_text
                from position as ticket
               where ${ofEvent} ${inOrder}
               limit ${readThrough}) as ticket
       where ${isRead} and ticket.search_text like any(${patterns}) and ${listed}
       order by ticket.id
       limit ${mostFound}
    ), addons as materialized (
      select ticket.id
        from (select ${columns}
                from position as ticket
               where ${ofEvent} and ${addonsInOrder}
               limit ${readThrough}) as ticket
       where ${isRead}
         and coalesce((select parent.search_text like any(${patterns})
                         from position as parent
                        where parent.organizer = ${organizer} and parent.event = ${event} and parent.id = ticket.addon_to
                        limit 1), false)
         and ${listed}
       order by ticket.addon_to, ticket.id
       limit ${mostFound}
    ), found as (
      select own.id from own
      union
      select addons.id from addons
      union
      -- The shortest first, so that the code itself is never cut off.
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
    select array(select found.id from found) as ids,
           (select count(*) from own) < ${mostFound} and (not ${isRead} or ${hasMore(readThrough)})
           or (select count(*) from addons) < ${mostFound}
             and exists (select from position as ticket where ${ofEvent} and ${addonsInOrder} limit 1 offset ${readThrough})
           as "isPartial",
           ${address !== undefined} and not ${isRead}
             and (select sampled."withHost" * ${oneOf} >= sampled.tickets
                         and sampled."withName" * ${oneOf} < sampled.tickets
                    from sampled)
           as "isHostCommon"`;
}

/** Looks for texts in all tickets. The index is read apart from everything else, so that no plan avoids it for an early end. */
function searchIndex({ ofEvent, listed, patterns }: Wanted, indexed: readonly string[]): Sql {
  return sql`
    with named as materialized (
      select ${columns}
        from position as ticket
       where ${ofEvent}
         and ticket.search_text like any(${indexed}::text[])
         -- What is not the column itself is not looked for in the index.
         and ticket.search_text || '' like any(${patterns})
    ), found as (
      (select ticket.id from named as ticket where ${listed} order by ticket.id limit ${mostFound})
      union
      (select ticket.id
         from named
         join position as ticket
           on ticket.organizer = named.organizer and ticket.event = named.event and ticket.addon_to = named.id
        where ${listed}
        order by ticket.addon_to, ticket.id
        limit ${mostFound})
    )
    select array(select found.id from found) as ids`;
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
