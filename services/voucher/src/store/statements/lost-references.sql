-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- noteLostItems, of keys
insert into lost_reference (organizer, event, kind, id, due_at)
select lost.organizer, lost.event, lost.kind, lost.id, lost.due_at
  from (select item.organizer, item.event, part.kind, part.id, now()
          from item
         cross join lateral (select 'item', item.id
                              union
                             select 'variation', unnest(item.variations)) as part (kind, id)
         where exists (select from unnest($1::text[], $2::text[], $3::bigint[]) as "gone" ("organizer", "event", "id")
                        where gone.organizer = item.organizer
                          and gone.event = item.event and gone.id = item.id)) as lost (organizer, event, kind, id, due_at)
 order by lost.organizer, lost.event, lost.kind, lost.id
    on conflict (organizer, event, kind, id) do update
   set due_at = least(lost_reference.due_at, excluded.due_at);

-- noteLostItems, older ones
insert into lost_reference (organizer, event, kind, id, due_at)
select lost.organizer, lost.event, lost.kind, lost.id, lost.due_at
  from (select item.organizer, item.event, part.kind, part.id, now() + interval '1 day'
          from item
         cross join lateral (select 'item', item.id
                              union
                             select 'variation', unnest(item.variations)) as part (kind, id)
         where item.revision < $1) as lost (organizer, event, kind, id, due_at)
 order by lost.organizer, lost.event, lost.kind, lost.id
    on conflict (organizer, event, kind, id) do update
   set due_at = least(lost_reference.due_at, excluded.due_at);

-- noteLostVariations
insert into lost_reference (organizer, event, kind, id, due_at)
select lost.organizer, lost.event, lost.kind, lost.id, lost.due_at
  from (select item.organizer, item.event, 'variation', former.id, now()
          from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[],
                      $5::jsonb[]) as "sent" ("organizer", "event", "id", "revision", "variations")
          join item
            on item.organizer = sent.organizer and item.event = sent.event and item.id = sent.id
               and item.revision < sent.revision
         cross join lateral unnest(item.variations) as former (id)
         where not sent.variations @> to_jsonb(former.id)) as lost (organizer, event, kind, id, due_at)
 order by lost.organizer, lost.event, lost.kind, lost.id
    on conflict (organizer, event, kind, id) do update
   set due_at = least(lost_reference.due_at, excluded.due_at);

-- findNaming, an item
select voucher.organizer, voucher.event, voucher.id
  from voucher
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.item = $3
   and exists (select from event where event.organizer = $4 and event.event = $5)
   and not exists (select from item where item.organizer = $6 and item.event = $7 and item.id = $8)
 order by voucher.id
 limit $9;

-- findNaming, a variation
select voucher.organizer, voucher.event, voucher.id
  from voucher
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.variation = $3
   and exists (select from event where event.organizer = $4 and event.event = $5)
   and not exists (select from item where item.organizer = $6 and item.event = $7 and $8 = any(item.variations))
 order by voucher.id
 limit $9;

-- findNaming, a quota
select voucher.organizer, voucher.event, voucher.id
  from voucher
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.quota = $3
   and exists (select from event where event.organizer = $4 and event.event = $5)
   and not exists (select from quota where quota.organizer = $6 and quota.event = $7 and quota.id = $8)
 order by voucher.id
 limit $9;
