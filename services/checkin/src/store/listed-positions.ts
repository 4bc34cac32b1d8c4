import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { type CheckinList, countedOn } from "../domain/list.ts";
import type { SearchPlan } from "../domain/search-text.ts";
import { indexedCharacters, indexedSecret } from "./indexed-secret.ts";
import type { EventKey } from "./keys.ts";
import { joinedTo, type TicketRead, type TicketRow, ticketColumns, toTicketRead } from "./ticket-rows.ts";

/** Which tickets of a list are wanted. Canceled ones are on no list. */
export interface PositionFilter extends EventKey {
  readonly list: CheckinList;
  /** Regardless of the state of the order. */
  readonly ignoreStatus: boolean;
  /** An order code, in any case. */
  readonly orderCode: string | undefined;
  readonly search: SearchPlan;
  readonly id: number | undefined;
}

function conditions(filter: PositionFilter): Sql {
  const { organizer, event, list, id, orderCode } = filter;
  const found = matchesSearch(filter);
  return joinSql(
    [
      sql`ticket.organizer = ${organizer} and ticket.event = ${event} and not ticket.canceled`,
      ...(list.subevent === null ? [] : [sql`ticket.subevent = ${list.subevent}`]),
      ...(list.allProducts ? [] : [sql`ticket.item = any(${list.limitProducts}::bigint[])`]),
      ...(filter.ignoreStatus ? [] : [sql`ticket.counted_as = any(${countedOn(list)}::text[])`]),
      ...(id === undefined ? [] : [sql`ticket.id = ${id}`]),
      ...(orderCode === undefined ? [] : [sql`upper(ticket.order_code) = upper(${orderCode} collate "C")`]),
      ...(found === undefined ? [] : [found]),
    ],
    "\n       and ",
  );
}

/** So many tickets a search of one or two letters looks at, per way of finding them: it tells too little to be worth more. */
const mostByBeginning = 500;

/** A text that sorts behind every text with the same beginning. */
const behindPrefix = "\u{10ffff}";

/**
 * Finds tickets by names, addresses and companies, their own or those of the
 * ticket they belong to, and by the beginning of secret or order code. Each way
 * has its index; as one condition they would have none. An array is made once,
 * whatever the planner believes of a table that has just been filled.
 */
function matchesSearch({ organizer, event, search }: PositionFilter): Sql | undefined {
  if (search.kind === "everything") return undefined;
  const ofEvent = sql`found.organizer = ${organizer} and found.event = ${event}`;
  const bound = search.kind === "beginnings" ? sql`limit ${mostByBeginning}` : sql``;
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
         select named.id from named
         union all
         select addon.id
           from named
           join position as addon
             on addon.organizer = ${organizer} and addon.event = ${event} and addon.addon_to = named.id
         union all
         (select found.id
            from position as found
           where ${ofEvent}
             and ${indexedSecret(sql`found.secret`)} >= ${from}
             and ${indexedSecret(sql`found.secret`)} < ${from} || ${behindPrefix}
             ${isLonger ? sql`and starts_with(lower(found.secret), lower(${search.codePrefix} collate "C"))` : sql``}
           ${bound})
         union all
         (select found.id
            from position as found
           where ${ofEvent}
             and upper(found.order_code) >= ${fromCode}
             and upper(found.order_code) < ${fromCode} || ${behindPrefix}
           ${bound})))`;
}

export async function countPositions(db: Queryable, filter: PositionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from position as ticket
     where ${conditions(filter)}`);
  return count;
}

const ownName = sql`lower(nullif(ticket.attendee_name, ''))`;
const shownName = sql`lower(coalesce(nullif(ticket.attendee_name, ''), nullif(parent.attendee_name, '')))`;

/** The contract's names for what positions can be ordered by. */
const orderings: ReadonlyMap<string, Sql> = new Map(
  Object.entries({
    order__code: sql`ticket.order_code`,
    "-order__code": sql`ticket.order_code desc`,
    order__datetime: sql`ticket.order_placed_at`,
    "-order__datetime": sql`ticket.order_placed_at desc`,
    order__email: sql`lower(ticket.order_email)`,
    "-order__email": sql`lower(ticket.order_email) desc`,
    positionid: sql`ticket.positionid`,
    "-positionid": sql`ticket.positionid desc`,
    attendee_name: sql`${shownName} nulls first`,
    "-attendee_name": sql`${shownName} desc nulls last`,
    last_checked_in: sql`presence.last_at nulls first`,
    "-last_checked_in": sql`presence.last_at desc nulls last`,
  }),
);

const defaultOrdering = [sql`${ownName} nulls last`, sql`ticket.positionid`, sql`ticket.id`];

export async function pagePositions(
  db: Queryable,
  filter: PositionFilter,
  page: { readonly ordering: readonly string[]; readonly limit: number; readonly offset: number },
): Promise<TicketRead[]> {
  const wanted = [...new Set(page.ordering)].map((name) => orderings.get(name)).filter((term) => term !== undefined);
  const order = joinSql(wanted.length === 0 ? defaultOrdering : [...wanted, sql`ticket.id desc`], ", ");
  const { organizer, event, list } = filter;
  // Only ids are sorted; what they stand for is fetched for one page.
  const rows = await db.many<TicketRow>(sql`
    select ${ticketColumns}
      from unnest(array(
             select ticket.id
               from position as ticket
               left join position as parent
                 on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
               left join presence
                 on presence.organizer = ticket.organizer and presence.event = ticket.event
                    and presence.position = ticket.id and presence.list = ${list.id}
              where ${conditions(filter)}
              order by ${order}
              limit ${page.limit} offset ${page.offset})) with ordinality as paged (id, place)
      join position as ticket
        on ticket.organizer = ${organizer} and ticket.event = ${event} and ticket.id = paged.id
      ${joinedTo({ list: sql`${list.id}`, nonce: sql`null` })}
     order by paged.place`);
  return rows.map(toTicketRead);
}

/** Finds one ticket of a list. */
export async function findPosition(db: Queryable, filter: PositionFilter): Promise<TicketRead | undefined> {
  const [found] = await pagePositions(db, filter, { ordering: ["positionid"], limit: 1, offset: 0 });
  return found;
}
