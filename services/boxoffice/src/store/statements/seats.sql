-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findSeatStates
select wanted.guid, wanted.subevent, found.product, found."isBlocked" or holder.id is not null as "isTaken",
       array(select claim.voucher
               from ((select voucher_claim.id as voucher, voucher_claim.valid_until_at
                        from voucher_claim
                       where voucher_claim.seat is not null
                         and voucher_claim.max_usages > greatest(voucher_claim.recorded_uses + voucher_claim.uses, 0)
                         and (voucher_claim.organizer, voucher_claim.event, voucher_claim.seat, coalesce(voucher_claim.subevent, 0))
                             >= ($1, $2, wanted.guid, coalesce(wanted.subevent, 0))
                         and (voucher_claim.organizer, voucher_claim.event, voucher_claim.seat, coalesce(voucher_claim.subevent, 0))
                             <= ($3, $4, wanted.guid, coalesce(wanted.subevent, 0))
                       order by voucher_claim.organizer, voucher_claim.event, voucher_claim.seat, coalesce(voucher_claim.subevent, 0)
                       limit $5)
                      union all
                     (select held_claim.voucher, held_claim.valid_until_at
                        from held_claim
                       where held_claim.seat is not null
                         and (held_claim.organizer, held_claim.event, held_claim.seat, coalesce(held_claim.subevent, 0))
                             >= ($6, $7, wanted.guid, coalesce(wanted.subevent, 0))
                         and (held_claim.organizer, held_claim.event, held_claim.seat, coalesce(held_claim.subevent, 0))
                             <= ($8, $9, wanted.guid, coalesce(wanted.subevent, 0))
                       order by held_claim.organizer, held_claim.event, held_claim.seat, coalesce(held_claim.subevent, 0)
                       limit $10)) as claim
              where (claim.valid_until_at is null or claim.valid_until_at >= statement_timestamp())) as claimants
  from unnest($11::text[], $12::bigint[]) as "wanted" ("guid", "subevent")
 cross join lateral (select seat.id, (seat.data ->> 'product')::bigint as product,
                            coalesce((seat.data -> 'blocked')::boolean, false) as "isBlocked"
                       from seat
                      where (seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0))
                            >= ($13, $14, wanted.guid, coalesce(wanted.subevent, 0))
                        and (seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0))
                            <= ($15, $16, wanted.guid, coalesce(wanted.subevent, 0))
                      order by seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0)
                      limit 1) as found
  left join lateral (select position.id
                       from position
                      where position.seat is not null
                        and position.taken_as is not null
                        and (position.organizer, position.event, position.seat) >= ($17, $18, found.id)
                        and (position.organizer, position.event, position.seat) <= ($19, $20, found.id)
                      order by position.organizer, position.event, position.seat
                      limit 1) as holder on true;
