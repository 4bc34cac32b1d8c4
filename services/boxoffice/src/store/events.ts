import type { Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

export interface StoredEvent<Data, Settings> {
  readonly slug: string;
  readonly data: Data;
  /** Without those that stand at their defaults because no record ever set any. */
  readonly settings: Partial<Settings>;
  readonly revision: number;
}

interface EventRow {
  readonly slug: string;
  readonly data: unknown;
  readonly settings: unknown;
  readonly revision: number;
}

/** Stores events, keeping their settings, and returns those that are new or differ from what was there. */
export async function upsert<Data, Settings>(
  tx: Tx,
  organizer: string,
  rows: readonly { slug: string; document: string }[],
): Promise<StoredEvent<Data, Settings>[]> {
  return many(
    tx,
    sql`
    insert into event as kept (organizer, slug, data, settings, revision)
    select ${organizer}, incoming.slug, incoming.data, '{}', nextval('revision_seq')
      from rows from (unnest(${rows.map((row) => row.slug)}::text[]),
                      jsonb_array_elements(${`[${rows.map((row) => row.document).join(",")}]`}::jsonb)) as incoming (slug, data)
     order by incoming.slug
        on conflict (organizer, slug) do update
       set data = excluded.data,
           revision = nextval('revision_seq')
     where kept.data is distinct from excluded.data
    returning kept.slug, kept.data, kept.settings, kept.revision`,
  );
}

/** Replaces the settings of an event and returns it if that changes them. */
export async function replaceSettings<Data, Settings>(
  tx: Tx,
  { organizer, event }: Scope,
  document: string,
): Promise<StoredEvent<Data, Settings>[]> {
  return many(
    tx,
    sql`
    update event
       set settings = ${document}::jsonb,
           revision = nextval('revision_seq')
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and event.settings is distinct from ${document}::jsonb
    returning event.slug, event.data, event.settings, event.revision`,
  );
}

/** Deletes an event that nothing lives in any more, and tells whether it was there. */
export async function deleteEvent(tx: Tx, { organizer, event }: Scope): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from event
     where event.organizer = ${organizer}
       and event.slug = ${event}`);
  return removed > 0;
}

async function many<Data, Settings>(tx: Tx, statement: Sql): Promise<StoredEvent<Data, Settings>[]> {
  const rows = await tx.many<EventRow>(statement);
  return rows.map((row) => ({
    slug: row.slug,
    data: row.data as Data,
    settings: row.settings as Partial<Settings>,
    revision: row.revision,
  }));
}
