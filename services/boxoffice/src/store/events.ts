import type { Fault } from "@tessera/kit/fault";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";

export interface StoredEvent<Data, Settings> {
  readonly slug: string;
  readonly data: Data;
  /** Without defaults: those are not stored. */
  readonly settings: Partial<Settings>;
  readonly revision: number;
}

/** Upserts events, keeps their settings, and returns new and changed ones. */
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
           revision = nextval('revision_seq'),
           changed_at = clock_timestamp()
     where kept.data is distinct from excluded.data
    returning kept.slug, kept.data, kept.settings, kept.revision`);
}

/** Replaces the settings of an event, and returns the event if they change. */
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

/** Hides an event from all requests. Undefined: there was none. */
export async function markRemoved(
  tx: Tx,
  { organizer, event }: Scope,
): Promise<{ readonly revision: number } | undefined> {
  return tx.maybeOne(sql`
    update event
       set is_removed = true,
           revision = nextval('revision_seq')
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and not event.is_removed
    returning event.revision`);
}

/** Whether an event is removed, but not deleted yet. */
export async function isRemoved(tx: Tx, { organizer, event }: Scope): Promise<boolean> {
  const found = await tx.run(sql`
    select
      from event
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and event.is_removed`);
  return found > 0;
}

/**
 * Finds which of these events are not removed, with the time of the database in microseconds since 1970.
 *
 * Their rows stay locked: the removal of an event waits for transactions that add to its vouchers, and later
 * transactions see the removal. So its work deletes all that was added.
 */
export async function lockPresent(tx: Tx, scopes: readonly Scope[]): Promise<(Scope & { readonly now: number })[]> {
  return tx.many(sql`
    select event.organizer, event.slug as event, ${inMicroseconds(sql`statement_timestamp()`)} as now
      from unnest(${scopes.map(({ organizer }) => organizer)}::text[],
                  ${scopes.map(({ event }) => event)}::text[]) as wanted (organizer, event)
      join event
        on event.organizer = wanted.organizer
           and event.slug = wanted.event
     where not event.is_removed
     order by event.organizer, event.slug
       for share of event`);
}

/** Finds the events of organizers that are removed, but not deleted yet. */
export async function findRemoved(db: Queryable, organizers: readonly string[]): Promise<Scope[]> {
  return db.many<Scope>(sql`
    select event.organizer, event.slug as event
      from event
     where event.organizer = any(${organizers}::text[])
       and event.is_removed`);
}

/** The slug is free again when the removal has ended. */
export function eventBeingRemoved(slug: string): Fault {
  return fault("event_being_removed", `event ${slug} is still being removed; send its records again in a moment`, {
    retryAfterMs: 1000,
  });
}

/** Deletes a removed event, which must be empty. */
export async function deleteRemoved(tx: Tx, { organizer, event }: Scope): Promise<void> {
  await tx.run(sql`
    delete from event
     where event.organizer = ${organizer}
       and event.slug = ${event}
       and event.is_removed`);
}
