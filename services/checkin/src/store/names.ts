import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { ItemInfo } from "./items.ts";
import type { EventKey } from "./keys.ts";

/** Finds the names of lists of an event. */
export async function findListNames(
  db: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.many<{ readonly id: number; readonly name: string }>(sql`
    select list.id, list.name
      from list
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = any(${ids}::bigint[])`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export type NamedItem = Pick<ItemInfo, "id" | "name" | "internalName" | "variations">;

/** Finds items of an event with what names them. */
export async function findNamedItems(
  db: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<NamedItem[]> {
  if (ids.length === 0) return [];
  return db.many<NamedItem>(sql`
    select item.id, item.name, item.internal_name as "internalName", item.variations
      from item
     where item.organizer = ${organizer}
       and item.event = ${event}
       and item.id = any(${ids}::bigint[])`);
}
