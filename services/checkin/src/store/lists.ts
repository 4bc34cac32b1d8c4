import type { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, bigints, boolean, instant, table, text } from "@tessera/kit/pg/table";
import { firstIdMadeHere } from "@tessera/values";
import type { CheckinList } from "../domain/list.ts";
import { fault } from "../faults.ts";
import { type EntityKey, type EventKey, entityKey, keysAs } from "./keys.ts";
import { noteLimits } from "./persons-inside.ts";

const lists = table("list", {
  key: entityKey,
  columns: {
    name: text,
    allProducts: boolean,
    limitProducts: bigints,
    subevent: bigint.orNull,
    includePending: boolean,
    allowMultipleEntries: boolean,
    allowEntryAfterExit: boolean,
    rules: text,
    exitAllAt: instant.orNull,
    addonMatch: boolean,
    ignoreInStatistics: boolean,
    considerTicketsUsed: boolean,
    exitSet: instant.orNull,
    softLimit: bigint.orNull,
    hardLimit: bigint.orNull,
    takesFrom: bigints,
  },
});

export interface StoredList extends CheckinList {
  /** The automatic exit as an organizer set it last; the daily move changes only `exitAllAt`. */
  readonly exitSet: number | null;
}

type Row = Readonly<Record<string, unknown>>;

async function selectList(
  db: Queryable,
  { organizer, event, id }: EntityKey,
  lock: Sql,
): Promise<StoredList | undefined> {
  const row = await db.maybeOne<Row>(sql`
    select ${lists.selected}
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}
           ${lock}`);
  return row && lists.toRow(row);
}

/** Locks a list until the transaction ends: serializes its changes. */
export async function lockList(tx: Queryable, key: EntityKey): Promise<StoredList | undefined> {
  return selectList(tx, key, sql`for no key update`);
}

export interface ListFilter extends EventKey {
  /** Only lists of this date. */
  readonly subevent: number | undefined;
  /** Lists of this date, and lists of all dates. */
  readonly subeventMatch: number | undefined;
  /** Leaves out lists of a date that was over before this instant. */
  readonly endsAfter: number | undefined;
}

function matching({ organizer, event, subevent, subeventMatch, endsAfter }: ListFilter): Sql {
  return sql`
      from list
      left join subevent
        on subevent.organizer = list.organizer and subevent.event = list.event and subevent.id = list.subevent
     where list.organizer = ${organizer}
       and list.event = ${event}
       and (${subevent ?? null}::bigint is null or list.subevent = ${subevent ?? null})
       and (${subeventMatch ?? null}::bigint is null or list.subevent is null or list.subevent = ${subeventMatch ?? null})
       and (${endsAfter === undefined ? null : toTimestamp(endsAfter)}::timestamptz is null
            or coalesce(subevent.date_to_at, subevent.date_from_at) is null
            or coalesce(subevent.date_to_at, subevent.date_from_at) >= ${endsAfter === undefined ? null : toTimestamp(endsAfter)}::timestamptz)`;
}

export async function countLists(db: Queryable, filter: ListFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count ${matching(filter)}`);
  return count;
}

/** The API's sort keys of lists. Lists of all dates come last, in descending order first. */
const orderings: ReadonlyMap<string, Sql> = new Map(
  Object.entries({
    id: sql`list.id`,
    "-id": sql`list.id desc`,
    name: sql`list.name`,
    "-name": sql`list.name desc`,
    subevent__date_from: sql`subevent.date_from_at`,
    "-subevent__date_from": sql`subevent.date_from_at desc`,
  }),
);

const defaultOrdering = [sql`subevent.date_from_at`, sql`list.name`, sql`list.id`];

export async function pageLists(
  db: Queryable,
  filter: ListFilter,
  page: { readonly ordering: readonly string[]; readonly limit: number; readonly offset: number },
): Promise<CheckinList[]> {
  const wanted = [...new Set(page.ordering)].map((name) => orderings.get(name)).filter((term) => term !== undefined);
  const terms = wanted.length === 0 ? defaultOrdering : [...wanted, sql`list.id desc`];
  const rows = await db.many<Row>(sql`
    select ${lists.selected} ${matching(filter)}
     order by ${joinSql(terms, ", ")}
     limit ${page.limit} offset ${page.offset}`);
  return rows.map(lists.toRow);
}

/** Finds lists by their ids alone, without those of removed events; events may have lists with one id. */
export function findListsById(
  db: Queryable,
  { organizer, lists: ids }: { readonly organizer: string; readonly lists: readonly number[] },
): Promise<{ event: string; list: number }[]> {
  return db.many(sql`
    select list.event, list.id as list
      from list
      join event
        on event.organizer = list.organizer and event.event = list.event
     where list.organizer = ${organizer}
       and list.id = any(${ids}::bigint[])
     order by list.event`);
}

/** Reads the ids of the first lists of an event. */
export async function listIdsOf(
  db: Queryable,
  { organizer, event, most }: EventKey & { readonly most: number },
): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    select list.id
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
     order by list.id
     limit ${most}`);
  return rows.map(({ id }) => id);
}

export async function findListNames(
  db: Queryable,
  { organizer, event }: EventKey,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.many<{ readonly id: number; readonly name: string }>(sql`
    select list.id, list.name
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** As many as a message names. */
const mostShared = 10;

export async function findSharedIds(
  db: Queryable,
  { organizer, among }: { readonly organizer: string; readonly among: readonly string[] | undefined },
): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    select list.id
      from list
      join event
        on event.organizer = list.organizer and event.event = list.event
     where list.organizer = ${organizer}
       ${among === undefined ? sql`` : sql`and list.event = any(${among}::text[])`}
     group by list.id
    having count(*) > 1
     limit ${mostShared}`);
  return rows.map(({ id }) => id);
}

/** Takes an id for a new list, from a range that no record may use. */
export async function nextListId(tx: Queryable): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('list_id') as id`);
  return id;
}

/** Upserts lists; ids must be distinct. Returns whether anything changed. */
export async function putLists(
  tx: Queryable,
  { organizer, event }: EventKey,
  changed: readonly StoredList[],
): Promise<boolean> {
  const rows = changed.map((list) => ({ ...list, organizer, event }));
  await tx.run(sql`
    delete from gone_list
     using ${keysAs("back", rows)}
     where gone_list.organizer = back.organizer and gone_list.event = back.event and gone_list.id = back.id`);
  const changes = await lists.upsertChanged(tx, rows);
  await noteLimits(tx, rows);
  return changes > 0;
}

/** Locks lists until the transaction ends: serializes their changes. */
export async function lockLists(tx: Queryable, keys: readonly EntityKey[]): Promise<StoredList[]> {
  const rows = await tx.many<Row>(sql`
    select ${lists.selected}
      from list
      join ${keysAs("wanted", keys)}
        on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.id
     order by list.organizer, list.event, list.id
       for no key update of list`);
  return rows.map(lists.toRow);
}

export async function requireList(db: Queryable, key: EntityKey): Promise<CheckinList> {
  const found = await selectList(db, key, sql``);
  if (found === undefined) throw listNotFound();
  return found;
}

export function listNotFound(): Fault {
  return fault("checkin_list_not_found", "The event has no such check-in list.");
}

/**
 * Deletes a list with all its scans; false: there was no such list. Deletes the row first: that waits for scans under
 * way, and later scans find no list.
 */
export async function removeList(tx: Queryable, { organizer, event, id }: EntityKey): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}`);
  await tx.run(sql`
    delete from presence
     using (select distinct scan.position
              from scan
             where scan.organizer = ${organizer}
               and scan.event = ${event}
               and scan.list = ${id}
               and (scan.successful or scan.annulled_at is not null)) as scanned
     where presence.position = scanned.position
       and presence.list = ${id}
       and presence.event = ${event}
       and presence.organizer = ${organizer}`);
  for (const table of [sql`count_delta`, sql`double_note`, sql`persons_inside`, sql`scan`]) {
    await tx.run(sql`
      delete from ${table} as held
       where held.organizer = ${organizer}
         and held.event = ${event}
         and held.list = ${id}`);
  }
  await tx.run(sql`
    update list
       set takes_from = array_remove(list.takes_from, ${id}::bigint)
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.takes_from <> '{}'
       and ${id}::bigint = any(list.takes_from)`);
  // Scans that were made elsewhere name no list that was made here.
  if (removed > 0 && id < firstIdMadeHere) {
    await tx.run(sql`
      insert into gone_list (organizer, event, id)
      values (${organizer}, ${event}, ${id})
          on conflict (organizer, event, id) do nothing`);
  }
  return removed > 0;
}

/**
 * Deletes the lists of a deleted event, and the notes of lists that were deleted before; false: there were no lists. Scans and
 * counts go with its tickets.
 */
export async function removeListsOf(tx: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from list
     where list.organizer = ${organizer}
       and list.event = ${event}`);
  for (const table of [sql`gone_list`, sql`persons_inside`]) {
    await tx.run(sql`
      delete from ${table} as held
       where held.organizer = ${organizer}
         and held.event = ${event}`);
  }
  return removed > 0;
}
