import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { placesOfCurrency } from "@tessera/values";
import type { ShopCatalogue } from "../domain/shop-catalogue.ts";
import { fault } from "../faults.ts";
import { isBeingRemoved } from "./gone-events.ts";
import type { EventKey } from "./keys.ts";

/** A product that a shop asks about. */
interface Mentioned {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
}

interface Row {
  readonly isSeries: boolean;
  readonly currency: string | null;
  readonly items: readonly {
    readonly id: number;
    readonly price: string | null;
    readonly hasVariations: boolean;
    readonly variations: readonly number[];
    readonly prices: readonly { readonly id: number; readonly price: string | null }[];
  }[];
  readonly dates: readonly {
    readonly id: number;
    readonly item: number;
    readonly variation: number | null;
    readonly itemPrice: string | null;
    readonly variationPrice: string | null;
  }[];
  readonly quotas: readonly { readonly id: number; readonly items: number[]; readonly variations: number[] }[];
}

/** Reads the catalogue of these products and of the quotas of vouchers; throws if the event is unknown here. */
export async function findShopCatalogue(
  db: Queryable,
  { organizer, event }: EventKey,
  { products, quotas }: { readonly products: readonly Mentioned[]; readonly quotas: readonly number[] },
): Promise<ShopCatalogue> {
  const items = [...new Set(products.map(({ item }) => item))];
  const variations = [...new Set(products.flatMap(({ variation }) => variation ?? []))];
  const dated = products.filter(({ subevent }) => subevent !== null);
  const distinct = [...new Map(dated.map((product) => [nameOf(product), product])).values()];
  const row = await db.maybeOne<Row>(sql`
    select event.has_subevents as "isSeries", event.document ->> 'currency' as currency,
           (select coalesce(jsonb_agg(jsonb_build_object(
                     'id', item.id,
                     'price', item.document ->> 'default_price',
                     'hasVariations', cardinality(item.variations) > 0,
                     'variations', array(select id from unnest(item.variations) as variation (id)
                                          where id = any(${variations}::bigint[])),
                     'prices', (select coalesce(jsonb_agg(jsonb_build_object(
                                         'id', (variation.data ->> 'id')::bigint,
                                         'price', variation.data ->> 'default_price')), '[]')
                                  from jsonb_array_elements(item.document -> 'variations') as variation (data)
                                 where (variation.data ->> 'id')::bigint = any(${variations}::bigint[])))), '[]')
              from item
             where item.organizer = event.organizer and item.event = event.event
               and item.id = any(${items}::bigint[])) as items,
           (select coalesce(jsonb_agg(jsonb_build_object(
                     'id', subevent.id,
                     'item', asked.item,
                     'variation', asked.variation,
                     'itemPrice', subevent.prices -> 'items' ->> asked.item::text,
                     'variationPrice', subevent.prices -> 'variations' ->> asked.variation::text)), '[]')
              from unnest(${distinct.map(({ item }) => item)}::bigint[],
                          ${distinct.map(({ variation }) => variation)}::bigint[],
                          ${distinct.map(({ subevent }) => subevent)}::bigint[]) as asked (item, variation, subevent)
              join subevent
                on subevent.organizer = event.organizer and subevent.event = event.event
                   and subevent.id = asked.subevent) as dates,
           (select coalesce(jsonb_agg(jsonb_build_object(
                     'id', quota.id,
                     'items', array(select id from unnest(quota.items) as member (id) where id = any(${items}::bigint[])),
                     'variations', array(select id from unnest(quota.variations) as member (id)
                                          where id = any(${variations}::bigint[])))), '[]')
              from quota
             where quota.organizer = event.organizer and quota.event = event.event
               and quota.id = any(${quotas}::bigint[])) as quotas
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}
       and not ${isBeingRemoved(sql`event`)}`);
  if (row === undefined)
    throw fault("voucher_event_not_found", "There is no such event here, or it has not arrived yet.");
  return toCatalogue(row);
}

function nameOf({ item, variation, subevent }: Mentioned): string {
  return `${item}/${variation}/${subevent}`;
}

function toCatalogue({ isSeries, currency, items, dates, quotas }: Row): ShopCatalogue {
  const byDate = Map.groupBy(dates, ({ id }) => id);
  return {
    isSeries,
    places: placesOfCurrency(currency ?? ""),
    items: new Map(
      items.map(({ id, price, hasVariations, variations, prices }) => {
        const known = new Map(prices.map((of) => [of.id, of.price]));
        const priced = variations.map((variation) => [variation, known.get(variation) ?? null] as const);
        return [id, { price: price ?? "0.00", hasVariations, variations: new Map(priced) }];
      }),
    ),
    dates: new Map(
      [...byDate].map(([id, asked]) => [
        id,
        {
          items: new Map(asked.flatMap(({ item, itemPrice }) => (itemPrice === null ? [] : [[item, itemPrice]]))),
          variations: new Map(
            asked.flatMap(({ variation, variationPrice }) =>
              variation === null || variationPrice === null ? [] : [[variation, variationPrice]],
            ),
          ),
        },
      ]),
    ),
    quotas: new Map(
      quotas.map(({ id, items: ofItems, variations }) => [
        id,
        { items: new Set(ofItems), variations: new Set(variations) },
      ]),
    ),
  };
}
