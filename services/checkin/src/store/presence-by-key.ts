import { type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";

/** Finds a presence by its key: the ids of ticket and list, the event and the organizer. */
export function presenceByKey(key: Sql): Sql {
  return sql`
        select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
               presence.last_type, presence.last_at
          from presence
         where ${withKey(sql`presence.position, presence.list, presence.event, presence.organizer`, key)}
         limit 1`;
}
