import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { fault } from "../faults.ts";
import type { EntityKey } from "./keys.ts";

/** A rendering of the tickets of a batch. */
export interface RenderingKey extends EntityKey {
  readonly job: string;
  readonly file: string;
}

/** Notes that a rendering belongs to a batch, unless that went with its event meanwhile. */
export async function insertRendering(db: Queryable, { organizer, event, id, job, file }: RenderingKey): Promise<void> {
  await db.run(sql`
    insert into rendering (organizer, event, batch, job, file)
    select batch.organizer, batch.event, batch.id, ${job}::uuid, ${file}::uuid
      from batch
     where batch.organizer = ${organizer}
       and batch.event = ${event}
       and batch.id = ${id}
       for key share
        on conflict (organizer, event, batch, job, file) do nothing`);
}

/** Throws where a batch has no such rendering. */
export async function requireRendering(
  db: Queryable,
  { organizer, event, id, job, file }: RenderingKey,
): Promise<void> {
  const row = await db.maybeOne(sql`
    select
      from rendering
     where rendering.organizer = ${organizer}
       and rendering.event = ${event}
       and rendering.batch = ${id}
       and rendering.job = ${job}::uuid
       and rendering.file = ${file}::uuid`);
  if (row === undefined) throw unknownRendering();
}

export function unknownRendering() {
  return fault("batch_rendering_not_found", "There is no such file, or it has expired.");
}

/** Forgets the next renderings whose files are gone; returns their number. */
export async function deleteOldRenderings(db: Queryable, { most }: { readonly most: number }): Promise<number> {
  return db.run(sql`
    with old as materialized (
      select rendering.organizer, rendering.event, rendering.batch, rendering.job, rendering.file
        from rendering
       where rendering.started_at < now() - interval '3 days'
       order by rendering.started_at
       limit ${most}
    )
    delete from rendering
     using old
     where rendering.organizer = old.organizer
       and rendering.event = old.event
       and rendering.batch = old.batch
       and rendering.job = old.job
       and rendering.file = old.file`);
}
