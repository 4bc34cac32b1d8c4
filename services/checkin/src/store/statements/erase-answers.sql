-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countWords, codes
select count(*) as count
  from scan
 where scan.organizer = $1
   and scan.event = $2
   and scan.raw_code is not null;

-- countWords, explanations
select count(*) as count
  from scan
 where scan.organizer = $1
   and scan.event = $2
   and scan.explanation is not null;
