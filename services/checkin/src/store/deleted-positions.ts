import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import { type EntityKey, keysAs } from "./keys.ts";

/** Notes that positions were deleted. Notes are locked in key order, because deleted positions cannot be. */
export async function noteDeletedPositions(tx: Queryable, keys: readonly EntityKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into gone_position (organizer, event, id, gone_at)
    select deleted.organizer, deleted.event, deleted.id, clock_timestamp()
      from ${keysAs("deleted", keys)}
     order by deleted.organizer collate "C", deleted.event collate "C", deleted.id
        on conflict (organizer, event, id) do update
           set gone_at = excluded.gone_at`);
}

/** Finds the positions that were deleted after an instant, whether or not they were created again. */
export async function findDeletedSince(tx: Queryable, keys: readonly EntityKey[], since: number): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select gone_position.organizer, gone_position.event, gone_position.id
      from ${keysAs("wanted", keys)}
     cross join lateral (
       select gone_position.organizer, gone_position.event, gone_position.id, gone_position.gone_at
         from gone_position
        where ${withKey(sql`gone_position.organizer, gone_position.event, gone_position.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1) as gone_position
     where gone_position.gone_at > ${toTimestamp(since)}::timestamptz`);
}

/** Notes deleted at a time: few enough to be quick, many enough for a large event. */
export const mostNotes = 5000;

/**
 * Deletes old notes, and orphans: refusals stored while their ticket was deleted. A refusal does not lock its ticket,
 * so the deletion of its scans may have missed one. Skips locked rows, so replicas may run it concurrently. Returns how
 * many notes it deleted.
 */
export async function deleteOldNotes(db: Queryable): Promise<number> {
  const { dropped } = await db.one<{ dropped: number }>(sql`
    with old as (
      select gone_position.organizer, gone_position.event, gone_position.id
        from gone_position
       where gone_position.gone_at < now() - interval '10 minutes'
       order by gone_position.gone_at
       limit ${mostNotes}
         for update skip locked
    ), orphan as (
      select scan.organizer, scan.event, scan.id
        from old
        join scan on scan.position = old.id and scan.event = old.event and scan.organizer = old.organizer
        left join position
          on position.organizer = old.organizer and position.event = old.event and position.id = old.id
       where position.id is null
         for update of scan skip locked
    ), deleted_orphan as (
      delete from scan
       using orphan
       where scan.organizer = orphan.organizer and scan.event = orphan.event and scan.id = orphan.id
    ), deleted as (
      delete from gone_position
       using old
       where gone_position.organizer = old.organizer and gone_position.event = old.event and gone_position.id = old.id
      returning gone_position.id
    )
    select count(*) as dropped
      from deleted`);
  return dropped;
}
