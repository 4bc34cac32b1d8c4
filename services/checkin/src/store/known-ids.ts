import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** The kinds of entities that an id can name. */
export type IdKind = "item" | "variation" | "subevent" | "list" | "position" | "voucher";

const ofEvent: Readonly<Record<IdKind, Sql>> = {
  item: sql`select item.id from item where item.organizer = asked.organizer and item.event = asked.event`,
  subevent: sql`
    select subevent.id from subevent where subevent.organizer = asked.organizer and subevent.event = asked.event`,
  list: sql`select list.id from list where list.organizer = asked.organizer and list.event = asked.event`,
  // Canceled positions count, too.
  position: sql`
    select position.id from position where position.organizer = asked.organizer and position.event = asked.event
                                       and position.id = any(asked.ids)`,
  // Tickets may name vouchers that were deleted.
  voucher: sql`
    select voucher.id from voucher where voucher.organizer = asked.organizer and voucher.event = asked.event
                                     and voucher.id = any(asked.ids)
     union all
    select position.voucher from position where position.organizer = asked.organizer and position.event = asked.event
                                            and position.voucher = any(asked.ids)`,
  variation: sql`
    select (variation ->> 'id')::bigint
      from item
     cross join lateral jsonb_array_elements(item.variations) as variation
     where item.organizer = asked.organizer and item.event = asked.event`,
};

export async function findKnownIds(
  db: Queryable,
  kind: IdKind,
  { organizer, event, ids }: EventKey & { readonly ids: readonly number[] },
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db.many<{ id: number }>(sql`
    select known.id
      from (values (${organizer}, ${event}, ${ids}::bigint[])) as asked (organizer, event, ids)
     cross join lateral (${ofEvent[kind]}) as known (id)
     where known.id = any(asked.ids)`);
  return new Set(rows.map(({ id }) => id));
}

/** Finds which of these items and dates an event has. */
export async function findReferences(
  db: Queryable,
  event: EventKey,
  ids: {
    readonly items: Iterable<number>;
    readonly subevents: Iterable<number>;
    readonly lists?: Iterable<number>;
  },
): Promise<Readonly<Record<"items" | "subevents" | "lists", ReadonlySet<number>>>> {
  return {
    items: await findKnownIds(db, "item", { ...event, ids: [...ids.items] }),
    subevents: await findKnownIds(db, "subevent", { ...event, ids: [...ids.subevents] }),
    lists: await findKnownIds(db, "list", { ...event, ids: [...(ids.lists ?? [])] }),
  };
}
