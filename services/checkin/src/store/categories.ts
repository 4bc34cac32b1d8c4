import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/** What checkin keeps of a category: its place among the others. */
export interface CategoryCopy extends EntityKey {
  readonly revision: number;
  readonly position: number;
}

/** Takes over categories, unless a newer state is here already. */
export async function putCategories(db: Queryable, categories: readonly CategoryCopy[]): Promise<void> {
  if (categories.length === 0) return;
  await db.run(sql`
    insert into category (organizer, event, id, revision, position)
    select sent.organizer, sent.event, sent.id, sent.revision, sent.position
      from unnest(${categories.map((category) => category.organizer)}::text[],
                  ${categories.map((category) => category.event)}::text[],
                  ${categories.map((category) => category.id)}::bigint[],
                  ${categories.map((category) => category.revision)}::bigint[],
                  ${categories.map((category) => category.position)}::bigint[])
           as sent (organizer, event, id, revision, position)
        on conflict (organizer, event, id) do update
           set revision = excluded.revision, position = excluded.position
         where category.revision < excluded.revision`);
}
