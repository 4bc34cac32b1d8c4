-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- forgetEmptyEvent
delete from gone_event
 where gone_event.organizer = $1
   and gone_event.event = $2
   and gone_event.gone_at < now() - interval '1 day'
   and not ((select true
               from "double_note" as kept
              where (kept.organizer, kept.event) >= ($3, $4)
                and (kept.organizer, kept.event) <= ($5, $6) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "scan" as kept
                 where (kept.organizer, kept.event) >= ($7, $8)
                   and (kept.organizer, kept.event) <= ($9, $10) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "count_delta" as kept
                 where (kept.organizer, kept.event) >= ($11, $12)
                   and (kept.organizer, kept.event) <= ($13, $14) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "list" as kept
                 where (kept.organizer, kept.event) >= ($15, $16)
                   and (kept.organizer, kept.event) <= ($17, $18) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "gone_list" as kept
                 where (kept.organizer, kept.event) >= ($19, $20)
                   and (kept.organizer, kept.event) <= ($21, $22) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "list_change" as kept
                 where (kept.organizer, kept.event) >= ($23, $24)
                   and (kept.organizer, kept.event) <= ($25, $26) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "alarm" as kept
                 where (kept.organizer, kept.event) >= ($27, $28)
                   and (kept.organizer, kept.event) <= ($29, $30) order by kept.organizer, kept.event limit 1) is not null
            or (select true
                  from "persons_inside" as kept
                 where (kept.organizer, kept.event) >= ($31, $32)
                   and (kept.organizer, kept.event) <= ($33, $34) order by kept.organizer, kept.event limit 1) is not null);
