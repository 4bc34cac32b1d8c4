-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockReservation
select voucher_reservation.state, voucher_reservation.request, voucher_reservation.answer,
           voucher_reservation.positions, voucher_reservation.expires_at <= clock_timestamp() as "hasExpired"
  from voucher_reservation where voucher_reservation.organizer = $1
   and voucher_reservation.event = $2
   and voucher_reservation.reservation = $3::uuid for no key update;
