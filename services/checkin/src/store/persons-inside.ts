import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { CountedPersons } from "../domain/limit-alarms.ts";
import { type EntityKey, type EventKey, keysAs } from "./keys.ts";

export interface LimitedList extends EntityKey {
  readonly softLimit: number | null;
  readonly hardLimit: number | null;
}

/**
 * Notes which of these lists have a limit: from the commit on a trigger on `presence` adds up what changes. Who was inside before
 * is not counted yet.
 */
export async function noteLimits(tx: Queryable, lists: readonly LimitedList[]): Promise<void> {
  const isLimited = ({ softLimit, hardLimit }: LimitedList) => softLimit !== null || hardLimit !== null;
  const free = lists.filter((list) => !isLimited(list));
  await tx.run(sql`
    delete from persons_inside
     using ${keysAs("free", free)}
     where persons_inside.organizer = free.organizer and persons_inside.event = free.event and persons_inside.list = free.id`);
  await tx.run(sql`
    insert into persons_inside (organizer, event, list)
    select limited.organizer, limited.event, limited.id
      from ${keysAs("limited", lists.filter(isLimited))}
     order by limited.organizer, limited.event, limited.id
        on conflict (organizer, event, list) do nothing`);
}

export function findNoted(db: Queryable): Promise<EntityKey[]> {
  return db.many<EntityKey>(sql`
    select persons_inside.organizer, persons_inside.event, persons_inside.list as id
      from persons_inside
     where not persons_inside.is_counted
     order by persons_inside.organizer, persons_inside.event, persons_inside.list`);
}

/**
 * Adds those who were inside of a noted list. One statement adds what its snapshot has and the sum so far of the same snapshot has
 * not: what is stored meanwhile is in the newer sum alone.
 */
export async function addThoseInside(db: Queryable, { organizer, event, id }: EntityKey): Promise<void> {
  await db.run(sql`
    update persons_inside as counted
       set persons = counted.persons + found.persons, is_counted = true
      from (select (select count(*)
                      from presence
                     where presence.organizer = ${organizer}
                       and presence.event = ${event}
                       and presence.list = ${id}
                       and presence.last_type = 'entry')
                   - (select so_far.persons
                        from persons_inside as so_far
                       where so_far.organizer = ${organizer}
                         and so_far.event = ${event}
                         and so_far.list = ${id}) as persons) as found
     where counted.organizer = ${organizer}
       and counted.event = ${event}
       and counted.list = ${id}
       and not counted.is_counted`);
}

/**
 * Locks the counts of lists in the order of their keys, before presences: scans lock both in this order. Lists that are being
 * deleted are left out.
 */
export async function lockCounts(tx: Queryable, lists: readonly EntityKey[]): Promise<void> {
  await tx.run(sql`
    with kept as (
      select list.organizer, list.event, list.id
        from list
        join ${keysAs("wanted", lists)}
          on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.id
         for key share of list skip locked
    )
    select
      from persons_inside
      join kept
        on persons_inside.organizer = kept.organizer and persons_inside.event = kept.event
       and persons_inside.list = kept.id
     order by persons_inside.organizer, persons_inside.event, persons_inside.list
       for no key update of persons_inside`);
}

/** Locks the counts of these lists, and of all that these tickets were scanned on. */
export async function lockCountsOf(
  tx: Queryable,
  { tickets, lists }: { readonly tickets: readonly EntityKey[]; readonly lists: readonly EntityKey[] },
): Promise<void> {
  if (tickets.length === 0 && lists.length === 0) return;
  await tx.run(sql`
    select
      from persons_inside
     where (persons_inside.organizer, persons_inside.event, persons_inside.list)
           in (select presence.organizer, presence.event, presence.list
                 from presence
                 join ${keysAs("ticket", tickets)}
                   on presence.organizer = ticket.organizer and presence.event = ticket.event and presence.position = ticket.id
                union all
               select named.organizer, named.event, named.id
                 from ${keysAs("named", lists)})
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
       and held.event = ${event}
       and held.is_counted`);
}
