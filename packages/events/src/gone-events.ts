import { toNullableTimestamp } from "@tessera/kit/pg/instants";
import type { Queryable } from "@tessera/kit/pg/queryable";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { type CopyTable, instant, rowsAs } from "@tessera/kit/pg/table";
import { type EventKey, eventKey } from "./entity-key.ts";
import { endErasures } from "./personal-data/erasures.ts";

/*
 * A service deletes its data of a deleted event, because another event may get the name. An event that a rebuild has left out may
 * only be late: its data stays for a day, unreachable. Until then the table `gone_event (organizer, event, gone_at)` of a service
 * has a note of the event. The note of a deleted event is for data that arrives late.
 */

/** The copies of events, where the erasures of a deleted event end, because another event may get its name. */
export function endingErasures<Input, Row>(events: CopyTable<EventKey, Input, Row>): CopyTable<EventKey, Input, Row> {
  return {
    ...events,
    async delete(tx, keys, deletedAt) {
      const gone = keys.map((key, index) => ({ ...key, at: deletedAt?.[index] ?? null }));
      if (gone.length > 0) await endErasures(tx, rowsAs("gone", { ...eventKey, at: instant.orNull }, gone));
      return events.delete(tx, keys, deletedAt);
    },
    async deleteOlder(tx, revision, since) {
      const at = toNullableTimestamp(since ?? null);
      const older = sql`
        select event.organizer, event.event, ${at}::timestamptz as at from event where event.revision < ${revision}`;
      await endErasures(tx, sql`(${older}) as gone`);
      return events.deleteOlder(tx, revision, since);
    },
  };
}

/** The copies of events, where each one that is deleted leaves a note. */
export function notingGone<Input, Row>(copies: CopyTable<EventKey, Input, Row>): CopyTable<EventKey, Input, Row> {
  const events = endingErasures(copies);
  return {
    ...events,
    async delete(tx, keys, deletedAt) {
      await note(tx, keys);
      return events.delete(tx, keys, deletedAt);
    },
    async deleteOlder(tx, revision, since) {
      await note(
        tx,
        await tx.many<EventKey>(sql`select event.organizer, event.event from event where event.revision < ${revision}`),
      );
      return events.deleteOlder(tx, revision, since);
    },
  };
}

/**
 * The copies of events, where `end` runs for each deleted event, because another event may get its name. The sweep of a
 * rebuild proves no deletion, and `end` does not run. The other wrappers wrap this one: cases are locked before work, and events last.
 */
export function endingWith<Input, Row>(
  copies: CopyTable<EventKey, Input, Row>,
  end: (tx: Queryable, event: EventKey & { readonly deletedAt: number }) => Promise<void>,
): CopyTable<EventKey, Input, Row> {
  return {
    ...copies,
    async delete(tx, keys, deletedAt) {
      for (const [index, key] of keys.entries()) {
        const at = deletedAt?.[index];
        if (at !== undefined) await end(tx, { ...key, deletedAt: at });
      }
      return copies.delete(tx, keys, deletedAt);
    },
  };
}

async function note(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into gone_event (organizer, event, gone_at)
    select gone.organizer, gone.event, clock_timestamp()
      from ${rowsAs("gone", eventKey, keys)}
     order by gone.organizer collate "C", gone.event collate "C"
        on conflict (organizer, event) do update
           set gone_at = excluded.gone_at`);
}

/** Finds the events that were deleted a day ago, and deletes the notes of those that are back. */
export async function findGoneEvents(db: Queryable): Promise<EventKey[]> {
  await db.run(sql`
    delete from gone_event
     using event
     where event.organizer = gone_event.organizer
       and event.event = gone_event.event`);
  return db.many<EventKey>(sql`
    select gone_event.organizer, gone_event.event
      from gone_event
     where gone_event.gone_at < now() - interval '1 day'
     order by gone_event.gone_at`);
}

/** Whether an event does not exist: a condition for every statement that deletes its remaining data. */
export function isGone({ organizer, event }: EventKey): Sql {
  return sql`not exists (select from event where event.organizer = ${organizer} and event.event = ${event})`;
}

/** Deletes the note of an event that was deleted a day ago, unless something is left of it. */
export async function forgetGoneEvent(
  db: Queryable,
  { organizer, event }: EventKey,
  { isLeft = sql`false` }: { readonly isLeft?: Sql } = {},
): Promise<void> {
  await db.run(sql`
    delete from gone_event
     where gone_event.organizer = ${organizer}
       and gone_event.event = ${event}
       and gone_event.gone_at < now() - interval '1 day'
       and not (${isLeft})`);
}
