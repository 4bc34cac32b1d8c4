import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { EntityKey } from "./keys.ts";

/** Notes that positions were deleted. In one order, like the positions, which need not be there to be held. */
export async function notePositionsGone(tx: Queryable, keys: readonly EntityKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into gone_position (organizer, event, id, gone_at)
    select gone.organizer, gone.event, gone.id, clock_timestamp()
      from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                  ${keys.map((key) => key.id)}::bigint[]) as gone (organizer, event, id)
     order by gone.organizer collate "C", gone.event collate "C", gone.id
        on conflict (organizer, event, id) do update
           set gone_at = excluded.gone_at`);
}

/** Finds those of some positions that were deleted after an instant, whether or not they were created again. */
export async function findGoneSince(tx: Queryable, keys: readonly EntityKey[], since: number): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select gone_position.organizer, gone_position.event, gone_position.id
      from unnest(${keys.map((key) => key.organizer)}::text[], ${keys.map((key) => key.event)}::text[],
                  ${keys.map((key) => key.id)}::bigint[]) as wanted (organizer, event, id)
      join gone_position
        on gone_position.organizer = wanted.organizer and gone_position.event = wanted.event
           and gone_position.id = wanted.id
     where gone_position.gone_at > ${toTimestamp(since)}::timestamptz`);
}

/** Notes dropped at a time: so many that the end of an event is soon forgotten, few enough to be quick. */
export const mostDropped = 5000;

/**
 * Drops notes that are no longer needed, with scans that were stored while
 * their ticket was deleted: a refusal does not hold it, so the removal of its scans may
 * have missed one. Waits for no lock, so any number of replicas may do it at a
 * time. Returns how many it dropped.
 */
export async function dropGonePositions(db: Queryable): Promise<number> {
  const { dropped } = await db.one<{ dropped: number }>(sql`
    with old as (
      select gone_position.organizer, gone_position.event, gone_position.id
        from gone_position
       where gone_position.gone_at < now() - interval '10 minutes'
       order by gone_position.gone_at
       limit ${mostDropped}
         for update skip locked
    ), left_behind as (
      select scan.organizer, scan.event, scan.id
        from old
        join scan on scan.position = old.id and scan.event = old.event and scan.organizer = old.organizer
        left join position
          on position.organizer = old.organizer and position.event = old.event and position.id = old.id
       where position.id is null
         for update of scan skip locked
    ), forgotten as (
      delete from scan
       using left_behind
       where scan.organizer = left_behind.organizer and scan.event = left_behind.event and scan.id = left_behind.id
    ), gone as (
      delete from gone_position
       using old
       where gone_position.organizer = old.organizer and gone_position.event = old.event and gone_position.id = old.id
      returning gone_position.id
    )
    select count(*) as dropped
      from gone`);
  return dropped;
}
