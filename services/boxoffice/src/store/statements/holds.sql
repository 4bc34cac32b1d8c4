-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockHeld
select held.organizer, held.event, held.voucher as id
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "id")
 cross join lateral (
   select held_claim.organizer, held_claim.event, held_claim.voucher
     from held_claim
    where (held_claim.organizer, held_claim.event, held_claim.voucher) >= (wanted.organizer, wanted.event, wanted.id)
      and (held_claim.organizer, held_claim.event, held_claim.voucher) <= (wanted.organizer, wanted.event, wanted.id)
    order by held_claim.organizer, held_claim.event, held_claim.voucher
      for no key update) as held;

-- endHolds
with ended as materialized (
  select held.ctid
    from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as "change" ("organizer", "event", "voucher", "changed")
   cross join lateral (
     select held_claim.ctid
       from held_claim
      where held_claim.based_on < change.changed
        and (held_claim.organizer, held_claim.event, held_claim.voucher) >= (change.organizer, change.event, change.voucher)
        and (held_claim.organizer, held_claim.event, held_claim.voucher) <= (change.organizer, change.event, change.voucher)
      order by held_claim.organizer, held_claim.event, held_claim.voucher
      limit $5) as held
)
delete from held_claim where held_claim.ctid = any(array(select ended.ctid from ended));
