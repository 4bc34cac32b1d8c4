-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findShopCatalogue
select event.has_subevents as "isSeries", event.document ->> 'currency' as currency,
       (select coalesce(jsonb_agg(jsonb_build_object(
         'id', item.id,
         'price', item.document ->> 'default_price',
         'hasVariations', cardinality(item.variations) > 0,
         'variations', array(select id from unnest(item.variations) as variation (id)
                              where id = any($1::bigint[])),
         'prices', (select coalesce(jsonb_agg(jsonb_build_object(
           'id', (variation.data ->> 'id')::bigint,
           'price', variation.data ->> 'default_price')), '[]')
                      from jsonb_array_elements(item.document -> 'variations') as variation (data)
                     where (variation.data ->> 'id')::bigint = any($2::bigint[])))), '[]')
          from item
         where item.organizer = event.organizer and item.event = event.event
           and item.id = any($3::bigint[])) as items,
       (select coalesce(jsonb_agg(jsonb_build_object(
         'id', subevent.id,
         'item', asked.item,
         'variation', asked.variation,
         'itemPrice', subevent.prices -> 'items' ->> asked.item::text,
         'variationPrice', subevent.prices -> 'variations' ->> asked.variation::text)), '[]')
          from unnest($4::bigint[],
                      $5::bigint[],
                      $6::bigint[]) as asked (item, variation, subevent)
          join subevent
            on subevent.organizer = event.organizer and subevent.event = event.event
               and subevent.id = asked.subevent) as dates,
       (select coalesce(jsonb_agg(jsonb_build_object(
         'id', quota.id,
         'items', array(select id from unnest(quota.items) as member (id) where id = any($7::bigint[])),
         'variations', array(select id from unnest(quota.variations) as member (id)
                              where id = any($8::bigint[])))), '[]')
          from quota
         where quota.organizer = event.organizer and quota.event = event.event
           and quota.id = any($9::bigint[])) as quotas
  from event
 where event.organizer = $10
   and event.event = $11
   and not exists (select from gone_event
                    where gone_event.organizer = event.organizer
                      and gone_event.event = event.event
                      and gone_event.is_deleted);
