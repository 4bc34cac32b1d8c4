import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { AssignedLayout, LayoutChoice, PrintedLayout } from "../domain/selection/select-layout.ts";
import type { EventKey } from "./keys.ts";

/** Reads the layouts that tickets of these products may have, and the layouts with these ids. */
export async function readLayoutChoice(
  db: Queryable,
  { organizer, event }: EventKey,
  { items, layouts }: { readonly items: readonly number[]; readonly layouts: readonly number[] },
): Promise<LayoutChoice> {
  const assigned = await db.many<AssignedLayout>(sql`
    select assignment.layout, assignment.item, assignment.sales_channel as "salesChannel"
      from assignment
     where assignment.organizer = ${organizer}
       and assignment.event = ${event}
       and assignment.item = any(${items}::bigint[])
     order by assignment.id`);
  const wanted = [...new Set([...layouts, ...assigned.map(({ layout }) => layout)])];
  const rows = await db.many<PrintedLayout & { readonly isDefault: boolean }>(sql`
    select layout.id, layout.elements, layout.background, layout.is_default as "isDefault"
      from layout
     where layout.organizer = ${organizer}
       and layout.event = ${event}
       and (layout.id = any(${wanted}::bigint[]) or layout.is_default)`);
  return {
    layouts: new Map(rows.map(({ id, elements, background }) => [id, { id, elements, background }])),
    defaultLayout: rows.find(({ isDefault }) => isDefault)?.id ?? null,
    assigned,
  };
}
