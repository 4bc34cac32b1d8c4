-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- nextRound
select retention.organizer, retention.days, retention.kinds, retention.changed_at as "changedAt",
       retention.organizer_created_at as "organizerCreatedAt", retention.round_after as after, clock_timestamp() as now
  from retention
 where retention.round_at <= now()
 order by retention.round_at
 limit 1;

-- turnPage
update retention
   set round_after = $1,
       round_at = clock_timestamp() + make_interval(mins => case when $2 = '' then $3 else 0 end)
 where retention.organizer = $4
   and retention.changed_at = $5::timestamptz
   and retention.round_after = $6
   and retention.round_at <= now();
