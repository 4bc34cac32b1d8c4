import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { AutomaticExit } from "../domain/next-exit.ts";
import type { EntityKey } from "./keys.ts";

/** A list with an automatic exit that is due, with the fields that decide which tickets are on it. */
export interface DueList extends EntityKey {
  readonly exit: AutomaticExit;
  readonly timezone: string;
  readonly allProducts: boolean;
  readonly limitProducts: readonly number[];
  readonly subevent: number | null;
}

/** Finds the lists with an automatic exit that is due, the longest overdue first. */
export async function findDueLists(
  db: Queryable,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<DueList[]> {
  const rows = await db.many<Omit<DueList, "exit"> & AutomaticExit>(sql`
    select list.organizer, list.event, list.id, list.exit_all_at as at, list.exit_local_time as local, event.timezone,
           list.all_products as "allProducts", list.limit_products as "limitProducts", list.subevent
      from list
      join event on event.organizer = list.organizer and event.event = list.event
     where list.exit_all_at <= ${toTimestamp(now)}::timestamptz
     order by list.exit_all_at, list.organizer, list.event, list.id
     limit ${limit}`);
  return rows.map(({ at, local, ...list }) => ({ ...list, exit: { at, local } }));
}

/** Whether the list is unchanged since it was read: a changed list is read again before it is handled. */
export function isUnchanged(list: DueList): Sql {
  return sql`
    (list.organizer, list.event, list.id) = (${list.organizer}, ${list.event}, ${list.id}::bigint)
     and list.exit_all_at = ${toTimestamp(list.exit.at)}::timestamptz
     and list.all_products = ${list.allProducts}
     and list.limit_products = ${list.limitProducts}::bigint[]
     and list.subevent is not distinct from ${list.subevent}::bigint`;
}

/** Whether a ticket is on the list, regardless of the state of its order. */
export function covers(list: DueList): Sql {
  return sql`
    (${list.allProducts} or position.item = any(${list.limitProducts}::bigint[]))
     and (${list.subevent}::bigint is null or position.subevent = ${list.subevent})`;
}

/** Moves the automatic exit of a list to a later instant; false: the list was changed or deleted since it was read. */
export async function moveExit(db: Queryable, list: DueList, next: AutomaticExit): Promise<boolean> {
  const moved = await db.run(sql`
    update list
       set exit_all_at = ${toTimestamp(next.at)}::timestamptz,
           exit_local_time = ${next.local}
     where ${isUnchanged(list)}`);
  return moved > 0;
}
