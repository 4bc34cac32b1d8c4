import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { countBuckets } from "./counts.ts";
import type { EventKey } from "./keys.ts";
import { conditionsOn, countedOf, type PositionFilter, unusable } from "./position-filter.ts";

/**
 * Counts the tickets that a filter without a search leaves.
 *
 * Conditions that select large parts of an event are in the buckets of the counts: buckets are summed, and exceptions
 * counted one by one. All other conditions leave few tickets.
 */
export async function countPositions(db: Queryable, filter: PositionFilter): Promise<number> {
  if (!filter.isPossible) return 0;
  if (!isOfBuckets(filter)) return countRows(db, filter, sql`true`);
  const { usableAt, ...rest } = filter;
  const all = { ...rest, usableAt: undefined };
  const counted = (await countCounted(db, all)) + (await countUncounted(db, all));
  return usableAt === undefined ? counted : counted - (await countUnusable(db, all, usableAt));
}

/** Whether all conditions but the usability are columns of buckets. */
function isOfBuckets(filter: PositionFilter): boolean {
  const { id, orderCode, attendeeName, secret, pseudonymizationId, voucher, addonTo } = filter;
  const narrow = [id, orderCode, attendeeName, secret, pseudonymizationId, voucher];
  return narrow.every((condition) => condition === undefined) && addonTo.length === 0;
}

async function countRows(db: Queryable, filter: PositionFilter, condition: Sql): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from position as ticket
     where ${conditionsOn(filter)} and ${condition}`);
  return count;
}

async function countCounted(db: Queryable, filter: PositionFilter): Promise<number> {
  const { organizer, event, list, items, variations, subevents, hasCheckin } = filter;
  const { positions, entered } = await countBuckets(db, {
    organizer,
    event,
    list: list.id,
    items: list.allProducts ? items : [...items, list.limitProducts],
    variations,
    subevents: list.subevent === null ? subevents : [...subevents, [list.subevent]],
    countedAs: countedOf(filter),
  });
  if (hasCheckin === undefined) return positions;
  const scanned = entered + (await countNeverEntered(db, { ...filter, hasCheckin: undefined }));
  return hasCheckin ? scanned : positions - scanned;
}

/** Counts the tickets whose scans on the list are all exits: buckets count entries. */
async function countNeverEntered(db: Queryable, filter: PositionFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from presence as scanned
      join position as ticket
        on ticket.organizer = scanned.organizer and ticket.event = scanned.event and ticket.id = scanned.position
     where scanned.organizer = ${filter.organizer} and scanned.event = ${filter.event}
       and scanned.list = ${filter.list.id} and scanned.entries = 0 and scanned.last_type is not null
       and ${conditionsOn(filter)} and ticket.counted_as is not null`);
  return count;
}

/** Counts the tickets that no list counts: their orders have expired or were canceled. */
async function countUncounted(db: Queryable, filter: PositionFilter): Promise<number> {
  const { ignoreStatus, orderStatuses } = filter;
  const mayBe = orderStatuses === undefined || orderStatuses.includes("expired") || orderStatuses.includes("canceled");
  return ignoreStatus && mayBe ? countRows(db, filter, sql`ticket.counted_as is null`) : 0;
}

async function countUnusable(db: Queryable, filter: PositionFilter, usableAt: number): Promise<number> {
  return countRows(db, filter, sql`ticket.id = any (array(${unusable(filter, toTimestamp(usableAt))}))`);
}

/** If more are unusable, the filter tests each ticket. */
const mostUnusable = 5000;

/** Finds the tickets of an event that are blocked or outside their validity period. Undefined: there are too many. */
export async function findUnusable(db: Queryable, key: EventKey, at: number): Promise<readonly number[] | undefined> {
  const rows = await db.many<{ id: number }>(sql`
    select found.id
      from (${unusable(key, toTimestamp(at))}) as found
     limit ${mostUnusable + 1}`);
  return rows.length > mostUnusable ? undefined : rows.map(({ id }) => id);
}
