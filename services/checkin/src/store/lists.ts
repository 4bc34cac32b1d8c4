import type { Queryable } from "@tessera/kit/pg/database";
import { toNullableTimestamp, toTimestamp } from "@tessera/kit/pg/instants";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { CheckinList } from "../domain/list.ts";
import type { EntityKey, EventKey } from "./keys.ts";

const idLock = declareLock("tessera checkin list ids");

interface Row {
  id: number;
  name: string;
  all_products: boolean;
  limit_products: number[];
  subevent: number | null;
  include_pending: boolean;
  allow_multiple_entries: boolean;
  allow_entry_after_exit: boolean;
  rules: string;
  exit_all_at: number | null;
  addon_match: boolean;
  ignore_in_statistics: boolean;
  consider_tickets_used: boolean;
}

const columns = sql`
  list.id, list.name, list.all_products, list.limit_products, list.subevent, list.include_pending,
  list.allow_multiple_entries, list.allow_entry_after_exit, list.rules, list.exit_all_at, list.addon_match,
  list.ignore_in_statistics, list.consider_tickets_used`;

function toList(row: Row): CheckinList {
  return {
    id: row.id,
    name: row.name,
    allProducts: row.all_products,
    limitProducts: row.limit_products,
    subevent: row.subevent,
    includePending: row.include_pending,
    allowMultipleEntries: row.allow_multiple_entries,
    allowEntryAfterExit: row.allow_entry_after_exit,
    rules: row.rules,
    exitAllAt: row.exit_all_at,
    addonMatch: row.addon_match,
    ignoreInStatistics: row.ignore_in_statistics,
    considerTicketsUsed: row.consider_tickets_used,
  };
}

export async function findList(db: Queryable, { organizer, event, id }: EntityKey): Promise<CheckinList | undefined> {
  const row = await db.maybeOne<Row>(sql`
    select ${columns}
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}`);
  return row && toList(row);
}

/** Which lists of an event are wanted. */
export interface ListFilter extends EventKey {
  /** Lists of this date alone. */
  readonly subevent: number | undefined;
  /** Lists of this date and those of all dates. */
  readonly subeventMatch: number | undefined;
  /** Not those whose date was over before this instant. */
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

/** The contract's names for what lists can be ordered by. Lists of all dates come last, and first the other way round. */
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
    select ${columns} ${matching(filter)}
     order by ${joinSql(terms, ", ")}
     limit ${page.limit} offset ${page.offset}`);
  return rows.map(toList);
}

/** Keeps whoever assigns or imports ids of lists from overtaking each other, until the transaction ends. */
export async function lockListIds(tx: Queryable): Promise<void> {
  await takeLocks(tx, { alone: [idLock()] });
}

/** Takes an id for a new list; the caller holds `lockListIds`. */
export async function nextListId(tx: Queryable): Promise<number> {
  const { id } = await tx.one<{ id: number }>(sql`select nextval('list_id') as id`);
  return id;
}

/** Makes ids that are assigned later larger than these; the caller holds `lockListIds`. */
export async function raiseListIds(tx: Queryable, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const largest = Math.max(...ids);
  await tx.run(sql`
    select setval('list_id', ${largest})
      from list_id
     where list_id.last_value <= ${largest}`);
}

const setByOrganizers = (table: Sql) => sql`
  (${table}.name, ${table}.all_products, ${table}.limit_products, ${table}.subevent, ${table}.include_pending,
   ${table}.allow_multiple_entries, ${table}.allow_entry_after_exit, ${table}.rules, ${table}.exit_all_at,
   ${table}.addon_match, ${table}.ignore_in_statistics, ${table}.consider_tickets_used)`;

/** Stores a list under its id, in the place of one that is there; tells whether that changes anything. */
export async function putList(tx: Queryable, { organizer, event }: EventKey, list: CheckinList): Promise<boolean> {
  const touched = await tx.run(sql`
    insert into list (organizer, event, id, name, all_products, limit_products, subevent, include_pending,
                      allow_multiple_entries, allow_entry_after_exit, rules, exit_all_at, addon_match,
                      ignore_in_statistics, consider_tickets_used)
    values (${organizer}, ${event}, ${list.id}, ${list.name}, ${list.allProducts}, ${list.limitProducts}::bigint[],
            ${list.subevent}, ${list.includePending}, ${list.allowMultipleEntries}, ${list.allowEntryAfterExit},
            ${list.rules}, ${toNullableTimestamp(list.exitAllAt)}::timestamptz, ${list.addonMatch},
            ${list.ignoreInStatistics}, ${list.considerTicketsUsed})
        on conflict (organizer, event, id) do update
           set name = excluded.name, all_products = excluded.all_products, limit_products = excluded.limit_products,
               subevent = excluded.subevent, include_pending = excluded.include_pending,
               allow_multiple_entries = excluded.allow_multiple_entries,
               allow_entry_after_exit = excluded.allow_entry_after_exit, rules = excluded.rules,
               exit_all_at = excluded.exit_all_at, addon_match = excluded.addon_match,
               ignore_in_statistics = excluded.ignore_in_statistics,
               consider_tickets_used = excluded.consider_tickets_used
         where ${setByOrganizers(sql`list`)} is distinct from ${setByOrganizers(sql`excluded`)}`);
  return touched > 0;
}

/** Holds a list until the transaction ends, so that two changes of it are made one after the other. */
export async function lockList(tx: Queryable, { organizer, event, id }: EntityKey): Promise<CheckinList | undefined> {
  const row = await tx.maybeOne<Row>(sql`
    select ${columns}
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}
       for no key update`);
  return row && toList(row);
}

/**
 * Removes a list with all its scans. False: there was none. Taking the list's
 * row first waits for the scans under way and lets none follow.
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
               and scan.successful) as scanned
     where presence.position = scanned.position
       and presence.list = ${id}
       and presence.event = ${event}
       and presence.organizer = ${organizer}`);
  for (const table of [sql`count_delta`, sql`scan`]) {
    await tx.run(sql`
      delete from ${table} as held
       where held.organizer = ${organizer}
         and held.event = ${event}
         and held.list = ${id}`);
  }
  return removed > 0;
}
