import { sql } from "@tessera/kit/pg/sql";

/** How many lists each event has. */
export const shown = {
  events: sql`
    select list.organizer, list.event, count(*) as lists
      from list
     group by list.organizer, list.event
     order by list.organizer, list.event`,
};
