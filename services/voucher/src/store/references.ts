import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { KnownItem, KnownReferences } from "../domain/check-voucher.ts";
import type { EventKey } from "./keys.ts";

/** The ids that vouchers refer to. */
export interface MentionedIds {
  readonly items: Iterable<number>;
  readonly variations: Iterable<number>;
  readonly quotas: Iterable<number>;
  readonly subevents: Iterable<number>;
}

interface Row {
  readonly items: readonly (KnownItem & { readonly id: number })[];
  readonly variations: readonly { readonly id: number; readonly item: number }[];
  readonly quotas: readonly number[];
  readonly subevents: readonly number[];
}

export async function findReferences(
  db: Queryable,
  { organizer, event }: EventKey,
  { items, variations, quotas, subevents }: MentionedIds,
): Promise<Omit<KnownReferences, "series">> {
  const [itemIds, variationIds, quotaIds, subeventIds] = [items, variations, quotas, subevents].map((ids) => [...ids]);
  const found = await db.one<Row>(sql`
    select (select coalesce(jsonb_agg(jsonb_build_object(
                     'id', item.id,
                     'hasVariations', cardinality(item.variations) > 0,
                     'isAddon', coalesce(category.is_addon, false),
                     'requiresBundling', coalesce(item.document -> 'require_bundling', 'false') = 'true')), '[]')
              from item
              left join category
                on category.organizer = item.organizer and category.event = item.event and category.id = item.category
             where item.organizer = ${organizer} and item.event = ${event}
               and item.id = any(${itemIds}::bigint[])) as items,
           (select coalesce(jsonb_agg(jsonb_build_object('id', variation.id, 'item', item.id)), '[]')
              from item
             cross join lateral unnest(item.variations) as variation (id)
             where item.organizer = ${organizer} and item.event = ${event}
               and item.variations && ${variationIds}::bigint[]
               and variation.id = any(${variationIds}::bigint[])) as variations,
           array(select quota.id from quota where quota.organizer = ${organizer} and quota.event = ${event}
                                              and quota.id = any(${quotaIds}::bigint[])) as quotas,
           array(select subevent.id from subevent where subevent.organizer = ${organizer} and subevent.event = ${event}
                                                    and subevent.id = any(${subeventIds}::bigint[])) as subevents`);
  return {
    items: new Map(found.items.map(({ id, ...item }) => [id, item])),
    variations: new Map(found.variations.map(({ id, item }) => [id, item])),
    quotas: new Set(found.quotas),
    subevents: new Set(found.subevents),
  };
}
