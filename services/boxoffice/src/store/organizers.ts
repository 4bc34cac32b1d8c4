import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Upserts an organizer; an unchanged one is not written. */
export async function upsert(tx: Tx, organizer: { slug: string; document: string }): Promise<void> {
  await tx.run(sql`
    insert into organizer as kept (slug, data, revision)
    values (${organizer.slug}, ${organizer.document}::jsonb, nextval('revision_seq'))
        on conflict (slug) do update
       set data = excluded.data,
           revision = nextval('revision_seq')
     where kept.data is distinct from excluded.data`);
}

export async function exists(db: Queryable, slug: string): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from organizer where organizer.slug = ${slug}) as found`);
  return found;
}

/** Finds when an organizer was created; undefined: no organizer has this name. */
export async function findCreation(db: Queryable, slug: string): Promise<number | undefined> {
  const found = await db.maybeOne<{ createdAt: number }>(sql`
    select organizer.created_at as "createdAt" from organizer where organizer.slug = ${slug}`);
  return found?.createdAt;
}

/** Deletes an organizer without events, with its gates. */
export async function deleteOrganizer(tx: Tx, slug: string): Promise<void> {
  await tx.run(sql`delete from gate where gate.organizer = ${slug}`);
  await tx.run(sql`delete from organizer where organizer.slug = ${slug}`);
}
