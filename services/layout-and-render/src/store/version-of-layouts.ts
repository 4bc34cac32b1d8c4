import { countOfErasures } from "@tessera/events/personal-data/erasures";
import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Reads the clock of the database, in microseconds since 1970. */
export async function readTime(tx: Queryable): Promise<number> {
  const { now } = await tx.one<{ now: number }>(sql`select clock_timestamp() as now`);
  return now;
}

/** A text that changes with each change of the layouts of an event, and with each erasure. */
export function versionOf({ organizer, event }: EventKey): Sql {
  return sql`
    select md5(concat_ws(' ',
             (select string_agg(
                       concat_ws(' ', layout.id, layout.name, layout.is_default, layout.background, md5(layout.elements)), ' '
                       order by layout.id)
                from layout
               where layout.organizer = ${organizer}
                 and layout.event = ${event}),
             (select string_agg(
                       concat_ws(' ', assignment.id, assignment.layout, assignment.item, assignment.sales_channel), ' '
                       order by assignment.id)
                from assignment
               where assignment.organizer = ${organizer}
                 and assignment.event = ${event}),
             ${countOfErasures({ organizer, event })})) as version`;
}
