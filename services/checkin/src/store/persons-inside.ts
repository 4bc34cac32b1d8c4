import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { CountedPersons } from "../domain/limit-alarms.ts";
import { type EntityKey, type EventKey, keysAs } from "./keys.ts";

/** A list as far as its persons are counted. */
export interface LimitedList extends EntityKey {
  readonly softLimit: number | null;
  readonly hardLimit: number | null;
}

/**
 * Begins to count the persons inside of these lists where they have a limit, and ends it where they have none.
 *
 * A list that is counted for the first time stops all scans for the moment of the count: what is stored meanwhile would be counted
 * twice, or not at all. A trigger on `presence` keeps the count from then on.
 */
export async function countLimited(tx: Queryable, lists: readonly LimitedList[]): Promise<void> {
  const isLimited = ({ softLimit, hardLimit }: LimitedList) => softLimit !== null || hardLimit !== null;
  const free = lists.filter((list) => !isLimited(list));
  await tx.run(sql`
    delete from persons_inside
     using ${keysAs("free", free)}
     where persons_inside.organizer = free.organizer and persons_inside.event = free.event and persons_inside.list = free.id`);
  const limited = lists.filter(isLimited);
  if (limited.length === 0) return;
  const uncounted = await tx.many<EntityKey>(sql`
    select limited.organizer, limited.event, limited.id
      from ${keysAs("limited", limited)}
     where not exists (select from persons_inside as held
                        where held.organizer = limited.organizer and held.event = limited.event and held.list = limited.id)`);
  if (uncounted.length === 0) return;
  // Scans wait behind this lock: it is not waited for.
  await tx.run(sql`set local lock_timeout = '300ms'`);
  await tx.run(sql`lock table presence in share row exclusive mode`);
  await tx.run(sql`set local lock_timeout to default`);
  await tx.run(sql`
    insert into persons_inside (organizer, event, list, persons)
    select uncounted.organizer, uncounted.event, uncounted.id,
           (select count(*)
              from presence
             where presence.organizer = uncounted.organizer
               and presence.event = uncounted.event
               and presence.list = uncounted.id
               and presence.last_type = 'entry')
      from ${keysAs("uncounted", uncounted)}
     order by uncounted.organizer, uncounted.event, uncounted.id
        on conflict (organizer, event, list) do nothing`);
}

/** Locks the counts of lists in the order of their keys, before scans that move visitors from one to another. */
export async function lockCounts(tx: Queryable, lists: readonly EntityKey[]): Promise<void> {
  await tx.run(sql`
    select
      from persons_inside
      join ${keysAs("wanted", lists)}
        on persons_inside.organizer = wanted.organizer and persons_inside.event = wanted.event
       and persons_inside.list = wanted.id
     order by persons_inside.organizer, persons_inside.event, persons_inside.list
       for no key update of persons_inside`);
}

/** Reads the lists of an event whose persons are counted. */
export function readLimits(db: Queryable, { organizer, event }: EventKey): Promise<CountedPersons[]> {
  return db.many<CountedPersons>(sql`
    select list.id as list, held.persons, list.soft_limit as "softLimit", list.hard_limit as "hardLimit"
      from persons_inside as held
      join list on list.organizer = held.organizer and list.event = held.event and list.id = held.list
     where held.organizer = ${organizer}
       and held.event = ${event}`);
}
