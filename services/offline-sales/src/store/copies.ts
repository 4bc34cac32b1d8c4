import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigints, copyTable } from "@tessera/kit/pg/table";
import { type EventKey, entityKey } from "./keys.ts";

/** What offline-sales keeps of what batches are of. */
export const items = copyTable("item", { key: entityKey, columns: { variations: bigints } });

export const subevents = copyTable("subevent", { key: entityKey, columns: {} });

/** What a filter names. */
export interface NamedIds {
  readonly item?: number | undefined;
  readonly variation?: number | undefined;
  readonly subevent?: number | undefined;
}

/** Finds the names of ids that an event does not have. */
export async function findUnknown(
  db: Queryable,
  { organizer, event }: EventKey,
  { item, variation, subevent }: NamedIds,
): Promise<string[]> {
  const ofEvent = sql`known.organizer = ${organizer} and known.event = ${event}`;
  const found = await db.one<{ item: boolean; variation: boolean; subevent: boolean }>(sql`
    select exists (select from item as known where ${ofEvent} and known.id = ${item ?? null}) as item,
           exists (select from item as known where ${ofEvent} and known.variations @> array[${variation ?? null}]::bigint[]) as variation,
           exists (select from subevent as known where ${ofEvent} and known.id = ${subevent ?? null}) as subevent`);
  return [
    ...(item === undefined || found.item ? [] : ["item"]),
    ...(variation === undefined || found.variation ? [] : ["variation"]),
    ...(subevent === undefined || found.subevent ? [] : ["subevent"]),
  ];
}
