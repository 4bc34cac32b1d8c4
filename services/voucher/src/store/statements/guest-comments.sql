-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readGuestComments
select voucher.id, voucher.code, voucher.comment, voucher.tag
  from voucher
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.tag = $3
   and voucher.tag <> ''
   and voucher.comment not in ('', $4)
   and voucher.id > $5
 order by voucher.id
 limit $6;
