import type { Queryable } from "@tessera/kit/pg/database";
import { parseTimestamp, toTimestamp } from "@tessera/kit/pg/instants";
import type { Cut, Part, Place, Source, Term } from "@tessera/kit/pg/page";
import { alongIndexes, countPart, readBehind, readPage, selectPlace } from "@tessera/kit/pg/page";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import { formatInstant } from "@tessera/values";
import type { Scope } from "../domain/scope.ts";
import { eventUnchangedAt } from "./locks.ts";
import { spellingsOf } from "./order-reads.ts";

/** Which orders of an event are wanted. Instants are microseconds since 1970. */
export interface OrderFilter extends Scope {
  readonly testmode?: boolean | undefined;
  /** Letters; others match nothing. */
  readonly statuses?: readonly string[] | undefined;
  /** As it is, or in small letters. */
  readonly code?: string | undefined;
  readonly changedSince?: number | undefined;
  /** Orders of these positions are wanted, too, whenever they changed. */
  readonly orOfPositions: readonly number[];
  readonly placedSince?: number | undefined;
  /** Orders with a position for a date that begins then or later. */
  readonly beginsSince?: number | undefined;
}

/** The time of the order as its index has it: text that sorts by time. */
const placed = sql`rtrim("order".data ->> 'datetime', 'Z') collate "C"`;

const isTest = sql`("order".data -> 'testmode')::boolean`;

const columns: Readonly<Record<string, Term>> = {
  datetime: { by: placed },
  last_modified: { by: sql`"order".changed_at`, isInstant: true },
  code: { by: sql`"order".code` },
  status: { by: sql`"order".status` },
};

const latestFirst = ["-datetime"];

/** What orders are sorted by; unknown columns are ignored. The code makes the order total, in the direction of an index. */
function termsOf(ordering: readonly string[]): readonly Term[] {
  const known = ordering.filter((name) => columns[name.replace(/^-/, "")] !== undefined);
  const terms = (known.length === 0 ? latestFirst : known).map((name) => ({
    ...(columns[name.replace(/^-/, "")] as Term),
    descending: name.startsWith("-"),
  }));
  return [...terms, { by: sql`"order".code`, descending: terms.at(-1)?.descending === true }];
}

const orderOfEvent = ({ organizer, event }: Scope) =>
  sql`"order".organizer = ${organizer} and "order".event = ${event}`;

/** All conditions but that on the time of the change. */
function conditionsOf(filter: OrderFilter): Sql {
  const { organizer, event, testmode, statuses, code, placedSince, beginsSince } = filter;
  const conditions = [orderOfEvent(filter)];
  const say = (condition: Sql) => void conditions.push(condition);
  if (testmode !== undefined) say(testmode ? isTest : sql`not ${isTest}`);
  if (statuses !== undefined) say(sql`"order".status = any(${statuses}::text[])`);
  if (code !== undefined) say(sql`"order".code = any(${spellingsOf(code)}::text[])`);
  if (placedSince !== undefined) say(sql`${placed} >= ${formatInstant(placedSince).replace("Z", "")}`);
  if (beginsSince !== undefined) {
    say(sql`"order".code in (
         select position.order_code
           from position
          where position.organizer = ${organizer}
            and position.event = ${event}
            and not position.canceled
            and position.subevent in (
                  select subevent.id
                    from subevent
                   where subevent.organizer = ${organizer}
                     and subevent.event = ${event}
                     and (subevent.data ->> 'date_from')::timestamptz >= ${toTimestamp(beginsSince)}::timestamptz))`);
  }
  return joinSql(conditions, "\n         and ");
}

/**
 * The orders of a filter. Those that changed are a range of an index, and those of named positions are found by these: one
 * condition for both would read the whole event, or sort it.
 */
function partOf(filter: OrderFilter, ordering: readonly string[]): Part {
  const { organizer, event, changedSince, orOfPositions } = filter;
  const where = conditionsOf(filter);
  const source = { id: sql`"order".code`, from: sql`"order"`, where, terms: termsOf(ordering) };
  if (changedSince === undefined) return { sources: [source] };
  const since = sql`${toTimestamp(changedSince)}::timestamptz`;
  const changed: Source = { ...source, where: sql`${where} and "order".changed_at >= ${since}` };
  if (orOfPositions.length === 0) return { sources: [changed] };
  const named: Source = {
    ...source,
    from: sql`(select distinct position.order_code
                 from unnest(${orOfPositions}::bigint[]) as wanted (id)
                cross join lateral (
                  select position.order_code
                    from position
                   where ${withKey(sql`position.organizer, position.event, position.id`, sql`${organizer}, ${event}, wanted.id`)}
                   limit 1) as position) as named
        cross join lateral (
          select "order".organizer, "order".event, "order".code, "order".status, "order".data, "order".changed_at
            from "order"
           where ${withKey(sql`"order".organizer, "order".event, "order".code`, sql`${organizer}, ${event}, named.order_code`)}
           limit 1) as "order"`,
    where: sql`${where} and "order".changed_at < ${since}`,
  };
  return { sources: [changed, named] };
}

/**
 * The same filter, without the condition that orders are not made for a test if none is: it reads each document. Only the
 * index of those that are has revisions in order, so no plan looks for one in the whole event.
 */
export async function withoutTests(db: Queryable, filter: OrderFilter): Promise<OrderFilter> {
  if (filter.testmode !== false) return filter;
  const found = await db.run(sql`
    select
      from "order"
     where ${orderOfEvent(filter)}
       and ${isTest}
     order by "order".revision
     limit 1`);
  return found > 0 ? filter : { ...filter, testmode: undefined };
}

export function countOrders(db: Queryable, filter: OrderFilter): Promise<number> {
  return countPart(db, partOf(filter, []));
}

/** Finds the codes of a page by its number; `count` is the number of orders on all pages. */
export function pageCodes(
  tx: Queryable,
  filter: OrderFilter,
  { ordering, ...cut }: Cut & { readonly ordering: readonly string[]; readonly count: number },
): Promise<string[]> {
  return readSorted(tx, filter, ordering, () => readPage<string>(tx, [partOf(filter, ordering)], cut));
}

/** Finds the codes of the first orders behind a place. */
export function codesBehind(
  tx: Queryable,
  filter: OrderFilter,
  { ordering, ...wanted }: { readonly ordering: readonly string[]; readonly place: Place; readonly limit: number },
): Promise<string[]> {
  return readSorted(tx, filter, ordering, () => readBehind<string>(tx, [partOf(filter, ordering)], wanted));
}

/** The few orders of a code, or that have changed, are sorted: along an index of another order the whole event would be read. */
function readSorted<T>(
  tx: Queryable,
  { code, changedSince }: OrderFilter,
  ordering: readonly string[],
  read: () => Promise<T>,
): Promise<T> {
  const [{ isInstant } = {}, , ...others] = termsOf(ordering);
  const isAlong = others.length === 0 && code === undefined && (changedSince === undefined || isInstant === true);
  return isAlong ? alongIndexes(tx, read) : read();
}

/** Finds the place of an order, as text for a cursor; undefined: there is no such order. */
export async function findPlace(
  db: Queryable,
  scope: Scope,
  { ordering, code }: { readonly ordering: readonly string[]; readonly code: string },
): Promise<string | undefined> {
  const terms = termsOf(ordering);
  const found = await db.maybeOne<{ place: readonly string[] }>(sql`
    select ${selectPlace(terms)} as place
      from "order"
     where ${orderOfEvent(scope)}
       and "order".code = ${code}`);
  return (
    found && JSON.stringify(found.place.map((text, index) => (terms[index]?.isInstant ? parseTimestamp(text) : text)))
  );
}

/** Reads the text of a place; undefined: this order has no such place. */
export function readPlace(ordering: readonly string[], text: string): Place | undefined {
  const terms = termsOf(ordering);
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read) || read.length !== terms.length) return undefined;
    return terms.map((term, index) => readValue(term, read[index]));
  } catch {
    return undefined;
  }
}

function readValue({ isInstant }: Term, value: unknown): string {
  if (isInstant === true) return toTimestamp(Number(value));
  if (typeof value !== "string" || value.includes("\0")) throw new Error("stored texts have no NUL");
  return value;
}

/**
 * Reads the watermark from which to ask for changed orders next, before they are read. While the event changes, it is the
 * last change that is stored: changes are serialized, so what is being stored has a later time.
 *
 * Not for a transaction: a change could be committed after its snapshot, and before the lock is looked at.
 */
export async function readAsOf(db: Queryable, scope: Scope): Promise<number> {
  const idle = await eventUnchangedAt(db, scope);
  if (idle !== undefined) return idle;
  const last = await db.maybeOne<{ at: number }>(sql`
    select "order".changed_at as at
      from "order"
     where ${orderOfEvent(scope)}
     order by "order".changed_at desc
     limit 1`);
  return last?.at ?? 0;
}
