import type { Queryable } from "@tessera/kit/pg/queryable";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "../entity-key.ts";

/** How many rows are read at a time: so few that requests wait for milliseconds while they are decoded. */
const limit = 200;

/** Counts the rows of a table of an event whose `state` holds something of each kind, page by page, in the order of their ids. */
export async function countStates(
  db: Queryable,
  { table, place: { organizer, event } }: { readonly table: string; readonly place: EventKey },
  kindsIn: (state: Uint8Array) => Iterable<string>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: readonly { readonly id: number; readonly state: Uint8Array }[] = await db.many(sql`
      select held.id, held.state
        from ${identifier(table)} as held
       where held.organizer = ${organizer}
         and held.event = ${event}
         and held.id > ${after}
       order by held.id
       limit ${limit}`);
    for (const { state } of rows) for (const kind of kindsIn(state)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    after = rows.length < limit ? undefined : rows.at(-1)?.id;
  }
  return counts;
}
