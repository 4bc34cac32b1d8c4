import { sql } from "@tessera/kit/pg/sql";

/** API keys and devices, without their tokens, and how much each event has. */
export const shown = {
  credentials: sql`
    select credential.organizer, credential.kind, credential.id,
           coalesce(credential.data ->> 'name', '') as name,
           coalesce((credential.data ->> 'active')::boolean, true)
             and not coalesce((credential.data ->> 'revoked')::boolean, false) as "isActive"
      from credential
     order by credential.organizer, credential.kind, credential.id`,
  events: sql`
    select event.organizer, event.slug as event,
           (select count(*) from item where item.organizer = event.organizer and item.event = event.slug) as items,
           (select count(*)
              from "order" where "order".organizer = event.organizer and "order".event = event.slug) as orders,
           (select count(*)
              from position where position.organizer = event.organizer and position.event = event.slug) as positions
      from event
     where not event.is_removed
     order by event.organizer, event.slug`,
};
