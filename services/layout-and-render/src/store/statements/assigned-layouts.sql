-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countAssignments
select count(*) as count from assignment where assignment.organizer = $1 and assignment.event = $2;

-- pageAssignments
select "assignment"."organizer", "assignment"."event", "assignment"."id", "assignment"."layout", "assignment"."item",
       "assignment"."sales_channel"
  from assignment
 where assignment.organizer = $1 and assignment.event = $2
 order by assignment.id
 limit $3 offset $4;

-- findAssignment
select "assignment"."organizer", "assignment"."event", "assignment"."id", "assignment"."layout", "assignment"."item",
       "assignment"."sales_channel"
  from assignment
 where assignment.organizer = $1 and assignment.event = $2
   and assignment.id = $3;

-- findOfLayouts
select "assignment"."organizer", "assignment"."event", "assignment"."id", "assignment"."layout", "assignment"."item",
       "assignment"."sales_channel"
  from assignment
 where assignment.organizer = $1 and assignment.event = $2
   and assignment.layout = any($3::bigint[])
 order by assignment.id;

-- findOfItems
select "assignment"."organizer", "assignment"."event", "assignment"."id", "assignment"."layout", "assignment"."item",
       "assignment"."sales_channel"
  from assignment
 where assignment.organizer = $1 and assignment.event = $2
   and assignment.item = any($3::bigint[])
 order by assignment.id;
