import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

export interface StoredEvent<Data, Settings> {
  readonly slug: string;
  readonly data: Data;
  /** Without defaults: those are not stored. */
  readonly settings: Partial<Settings>;
  readonly revision: number;
}

/** Stores events, keeps their settings, and returns new and changed ones. */
export function upsert<Data, Settings>(
  tx: Tx,
  organizer: string,
  rows: readonly { slug: string; document: string }[],
): Promise<StoredEvent<Data, Settings>[]> {
  return tx.many(sql`
    insert into event as kept (organizer, slug, data, settings, revision)
    select ${organizer}, incoming.slug, incoming.data, '{}', nextval('revision_seq')
      from rows from (unnest(${rows.map((row) => row.slug)}::text[]),
                      jsonb_array_elements(${`[${rows.map((row) => row.document).join(",")}]`}::jsonb)) as incoming (slug, data)
     order by incoming.slug
        on conflict (organizer, slug) do update
       set data = excluded.data,
           revision = nextval('revision_seq')
     where kept.data is distinct from excluded.data
    returning kept.slug, kept.data, kept.settings, kept.revision`);
}

/** Replaces the settings of an event and returns it if that changes them. */
export function replaceSettings<Data, Settings>(
  tx: Tx,
  { organizer, event }: Scope,
  document: string,
): Promise<StoredEvent<Data, Settings>[]> {
  return tx.many(sql`
    update event
       set settings = ${document}::jsonb,
           revision = nextval('revision_seq')
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and event.settings is distinct from ${document}::jsonb
    returning event.slug, event.data, event.settings, event.revision`);
}

/** Deletes an event, which must be empty. Tells whether it existed. */
export async function deleteEvent(tx: Tx, { organizer, event }: Scope): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from event
     where event.organizer = ${organizer}
       and event.slug = ${event}`);
  return removed > 0;
}
