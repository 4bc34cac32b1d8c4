import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable, text } from "@tessera/kit/pg/table";
import { type EventKey, entityKey } from "./keys.ts";

/** The copies of the entities that layouts are assigned to. */
export const items = copyTable("item", { key: entityKey, columns: {} });

export const salesChannels = copyTable("sales_channel", { key: { organizer: text, identifier: text }, columns: {} });

/** This channel exists without a record. */
const webChannel = "web";

/** Finds which of these items an event has, and locks them until the transaction ends. */
export async function lockItems(
  tx: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  // Locked against deletion until the assignments are stored.
  const rows = await tx.many<{ id: number }>(sql`
    select item.id
      from item
     where item.organizer = ${organizer}
       and item.event = ${event}
       and item.id = any(${ids}::bigint[])
     order by item.id
       for key share`);
  return new Set(rows.map(({ id }) => id));
}

export async function findItems(
  db: Queryable,
  { organizer, event }: EventKey,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db.many<{ id: number }>(sql`
    select item.id
      from item
     where item.organizer = ${organizer}
       and item.event = ${event}
       and item.id = any(${ids}::bigint[])`);
  return new Set(rows.map(({ id }) => id));
}

export async function findSalesChannels(
  db: Queryable,
  { organizer }: Pick<EventKey, "organizer">,
  identifiers: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ identifier: string }>(sql`
    select sales_channel.identifier
      from sales_channel
     where sales_channel.organizer = ${organizer}
       and sales_channel.identifier = any(${identifiers}::text[])`);
  return new Set([webChannel, ...rows.map(({ identifier }) => identifier)]);
}
