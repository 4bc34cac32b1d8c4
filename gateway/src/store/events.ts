import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

export interface EventKey {
  readonly organizer: string;
  readonly event: string;
}

export interface EventState extends EventKey {
  readonly revision: number;
}

/** Tells whether an organizer has an event. */
export async function hasEvent(db: Queryable, organizer: string, event: string): Promise<boolean> {
  const { known } = await db.one<{ known: boolean }>(sql`
    select exists (select from event where event.organizer = ${organizer} and event.event = ${event}) as known`);
  return known;
}

/** Takes over the states that are newer than what is stored. Each event may occur once. */
export async function upsertNewer(tx: Tx, states: readonly EventState[]): Promise<void> {
  await tx.run(sql`
    insert into event (organizer, event, revision)
    select state.organizer, state.event, state.revision
      from unnest(${states.map((state) => state.organizer)}::text[],
                  ${states.map((state) => state.event)}::text[],
                  ${states.map((state) => state.revision)}::bigint[]) as state (organizer, event, revision)
        on conflict (organizer, event) do update
       set revision = excluded.revision
     where event.revision < excluded.revision`);
}

/** Removes events that are gone. */
export async function remove(tx: Tx, keys: readonly EventKey[]): Promise<void> {
  await tx.run(sql`
    delete from event
     using unnest(${keys.map((key) => key.organizer)}::text[],
                  ${keys.map((key) => key.event)}::text[]) as gone (organizer, event)
     where event.organizer = gone.organizer
       and event.event = gone.event`);
}

/** Removes events whose state is older than a revision; returns how many those were. */
export async function removeOlder(tx: Tx, revision: number): Promise<number> {
  return tx.run(sql`delete from event where event.revision < ${revision}`);
}
