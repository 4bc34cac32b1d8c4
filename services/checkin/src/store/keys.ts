import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";

export interface EventKey {
  readonly organizer: string;
  readonly event: string;
}

/** Something of an event that has an id. */
export interface EntityKey extends EventKey {
  readonly id: number;
}

/** Tells entities of one kind apart, in memory. */
export function nameOf({ organizer, event, id }: EntityKey): string {
  return `${organizer}/${event}/${id}`;
}

/** A table of copies, each of an entity with an id. */
export type CopyTable = "subevent" | "category" | "item" | "question" | "revoked_secret" | "blocked_secret";

/** A table of copies, each with the revision of its state. */
export type SweptTable = CopyTable | "event" | "reusable_medium";

/** Removes entities of one table. */
export async function removeEntities(
  db: Queryable,
  table: CopyTable | "position",
  keys: readonly EntityKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await db.run(sql`
    delete from ${identifier(table)} as held
     using unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                  ${keys.map((key) => key.id)}::bigint[]) as gone (organizer, event, id)
     where held.organizer = gone.organizer
       and held.event = gone.event
       and held.id = gone.id`);
}

/** Removes entities of one table whose state is older than a revision; returns how many those were. */
export async function removeOlder(db: Queryable, table: SweptTable, revision: number): Promise<number> {
  return db.run(sql`
    delete from ${identifier(table)} as held
     where held.revision < ${revision}`);
}
