-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countLayouts
select count(*) as count from layout where layout.organizer = $1 and layout.event = $2;

-- pageLayouts
select "layout"."organizer", "layout"."event", "layout"."id", "layout"."name", "layout"."is_default", "layout"."elements",
       "layout"."background", "layout"."background_size", "layout"."background_sha256"
  from layout
 where layout.organizer = $1 and layout.event = $2
 order by layout.name, layout.id
 limit $3 offset $4;

-- findLayouts
select "layout"."organizer", "layout"."event", "layout"."id", "layout"."name", "layout"."is_default", "layout"."elements",
       "layout"."background", "layout"."background_size", "layout"."background_sha256"
  from layout
 where layout.organizer = $1 and layout.event = $2
   and layout.id = any($3::bigint[])
 order by layout.id;

-- findLayoutIds
select layout.id
  from layout
 where layout.organizer = $1 and layout.event = $2
   and layout.id = any($3::bigint[]);

-- findDefault
select layout.id
  from layout
 where layout.organizer = $1 and layout.event = $2
   and layout.is_default;

-- clearDefault
update layout set is_default = false where layout.organizer = $1 and layout.event = $2 and layout.is_default;

-- promoteFirst
update layout
   set is_default = true
 where layout.organizer = $1 and layout.event = $2
   and layout.id = (select layout.id
                      from layout
                     where layout.organizer = $3 and layout.event = $4
                     order by layout.name, layout.id
                     limit 1);

-- findBackground
select "layout"."organizer", "layout"."event", "layout"."id", "layout"."name", "layout"."is_default", "layout"."elements",
       "layout"."background", "layout"."background_size", "layout"."background_sha256"
  from layout
  join event using (organizer, event)
 where layout.background = $1
   and layout.organizer = $2 and layout.event = $3;
