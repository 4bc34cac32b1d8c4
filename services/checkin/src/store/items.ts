import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, copyTable, document, json, text } from "@tessera/kit/pg/table";
import { type EventKey, entityKey } from "./keys.ts";

/** An element of the column `variations`; the names are those of its JSON. */
export interface VariationCopy {
  readonly id: number;
  readonly value: Readonly<Record<string, string>>;
  readonly position: number;
  readonly checkinAttention: boolean;
  readonly checkinText: string | null;
}

export const items = copyTable("item", {
  key: entityKey,
  columns: {
    name: json<Readonly<Record<string, string>>>(),
    internalName: text.orNull,
    admission: boolean,
    category: bigint.orNull,
    position: bigint,
    checkinAttention: boolean,
    checkinText: text.orNull,
    generateTickets: boolean.orNull,
    variations: json<readonly VariationCopy[]>(),
    document,
    mediaPolicy: text.orNull,
    mediaType: text.orNull,
  },
});

/** The fields of an item in the status of a list. */
export interface ItemInfo {
  readonly id: number;
  readonly name: Readonly<Record<string, string>>;
  readonly internalName: string | null;
  readonly admission: boolean;
  readonly variations: readonly VariationCopy[];
}

/** Lists the items of an event in the order of the shop: by category, items without one last. */
export async function listItems(db: Queryable, { organizer, event }: EventKey): Promise<ItemInfo[]> {
  return db.many<ItemInfo>(sql`
    select item.id, item.name, item.internal_name as "internalName", item.admission, item.variations
      from item
      left join category
        on category.organizer = item.organizer and category.event = item.event and category.id = item.category
     where item.organizer = ${organizer}
       and item.event = ${event}
     order by category.position nulls last, item.position, item.id`);
}
