import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import type { Bucket } from "../domain/bucket.ts";
import type { CountedAs } from "../domain/counted-as.ts";
import { type EntityKey, type EventKey, entityKey } from "./keys.ts";

export interface CountDelta extends EventKey, Bucket {
  /** Null: an increment of the tickets; else of the tickets that were scanned on this list. */
  readonly list: number | null;
  readonly positions: number;
  readonly entered: number;
  readonly inside: number;
}

const bucketColumns = { subevent: bigint, item: bigint, variation: bigint, countedAs: text };
const deltaColumns = {
  organizer: text,
  event: text,
  list: bigint,
  ...bucketColumns,
  positions: bigint,
  entered: bigint,
  inside: bigint,
};

/** 0 stands for no date and no variation: nulls could not be compared. */
function toStored<B extends Bucket>(bucket: B) {
  return { ...bucket, subevent: bucket.subevent ?? 0, variation: bucket.variation ?? 0 };
}

/** Inserts increments of the counts, one row for each bucket. */
export async function addCounts(tx: Queryable, changes: readonly CountDelta[]): Promise<void> {
  const deltas = sumByBucket(changes).map((delta) => ({ ...toStored(delta), list: delta.list ?? 0 }));
  if (deltas.length === 0) return;
  await tx.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select delta.organizer, delta.event, delta.list, delta.subevent, delta.item, delta.variation, delta.counted_as,
           delta.positions, delta.entered, delta.inside
      from ${rowsAs("delta", deltaColumns, deltas)}`);
}

function sumByBucket(changes: readonly CountDelta[]): CountDelta[] {
  const sums = new Map<string, CountDelta>();
  for (const change of changes) {
    const { organizer, event, list, subevent, item, variation, countedAs } = change;
    const key = `${organizer}/${event}/${list}/${subevent}/${item}/${variation}/${countedAs}`;
    const sum = sums.get(key) ?? { ...change, positions: 0, entered: 0, inside: 0 };
    sums.set(key, {
      ...sum,
      positions: sum.positions + change.positions,
      entered: sum.entered + change.entered,
      inside: sum.inside + change.inside,
    });
  }
  return [...sums.values()].filter(
    ({ positions, entered, inside }) => positions !== 0 || entered !== 0 || inside !== 0,
  );
}

/** A ticket that moves from one bucket to another; null is no bucket. */
export interface Move extends EntityKey {
  readonly from: Bucket | null;
  readonly to: Bucket | null;
}

/** Moves the scans of these tickets along: on every list they leave the old bucket and join the new one. */
export async function movePresences(tx: Queryable, moves: readonly Move[]): Promise<void> {
  const steps = moves.flatMap(({ from, to, ...ticket }) => [
    ...(from === null ? [] : [{ ...ticket, ...toStored(from), sign: -1 }]),
    ...(to === null ? [] : [{ ...ticket, ...toStored(to), sign: 1 }]),
  ]);
  if (steps.length === 0) return;
  await tx.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select presence.organizer, presence.event, presence.list, step.subevent, step.item, step.variation, step.counted_as, 0,
           sum(step.sign), coalesce(sum(step.sign) filter (where presence.last_type = 'entry'), 0)
      from ${rowsAs("step", { ...entityKey, ...bucketColumns, sign: bigint }, steps)}
      join presence
        on presence.organizer = step.organizer and presence.event = step.event and presence.position = step.id
     where presence.entries > 0
     group by presence.organizer, presence.event, presence.list, step.subevent, step.item, step.variation, step.counted_as`);
}

export interface ListCounts {
  readonly positions: number;
  readonly entered: number;
}

/** The join of a list with its buckets: date, products and states of orders. */
const isCounted = sql`
               count_delta.organizer = list.organizer and count_delta.event = list.event
           and count_delta.list in (0, list.id)
           and (list.subevent is null or count_delta.subevent = list.subevent)
           and (list.all_products or count_delta.item = any(list.limit_products))
           and (list.include_pending or count_delta.counted_as <> 'pending')`;

/** Counts lists by summing their buckets. */
export async function countOnLists(
  db: Queryable,
  { organizer, event, lists }: EventKey & { readonly lists: readonly number[] },
): Promise<Map<number, ListCounts>> {
  const rows = await db.many<ListCounts & { readonly id: number }>(sql`
    select list.id,
           coalesce(sum(count_delta.positions), 0)::bigint as positions,
           coalesce(sum(count_delta.entered), 0)::bigint as entered
      from list
      left join count_delta on ${isCounted}
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = any(${lists}::bigint[])
     group by list.id`);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

export interface CountedList extends ListCounts {
  readonly id: number;
  readonly name: string;
  readonly subevent: number | null;
  readonly inside: number;
  readonly softLimit: number | null;
  readonly hardLimit: number | null;
  /** All persons inside; null: they are not counted. */
  readonly persons: number | null;
}

/** Counts the lists of an event, at most so many of them, in the order of their names. */
export async function countEachList(
  db: Queryable,
  { organizer, event, most }: EventKey & { readonly most: number },
): Promise<CountedList[]> {
  return db.many<CountedList>(sql`
    select list.id, list.name, list.subevent, list.soft_limit as "softLimit", list.hard_limit as "hardLimit", held.persons,
           coalesce(sum(count_delta.positions), 0)::bigint as positions,
           coalesce(sum(count_delta.entered), 0)::bigint as entered,
           coalesce(sum(count_delta.inside), 0)::bigint as inside
      from list
      left join persons_inside as held
        on held.organizer = list.organizer and held.event = list.event and held.list = list.id and held.is_counted
      left join count_delta on ${isCounted}
     where list.organizer = ${organizer}
       and list.event = ${event}
     group by list.organizer, list.event, list.id, held.persons
     order by list.name, list.id
     limit ${most}`);
}

/** Buckets are wanted if they are in each of these sets. */
export interface BucketChoice extends EventKey {
  readonly list: number;
  readonly items: readonly (readonly number[])[];
  readonly variations: readonly (readonly number[])[];
  readonly subevents: readonly (readonly number[])[];
  readonly countedAs: readonly CountedAs[];
}

/** Counts tickets, and tickets with an entry on a list, by summing their buckets. */
export async function countBuckets(
  db: Queryable,
  { organizer, event, list, items, variations, subevents, countedAs }: BucketChoice,
): Promise<ListCounts> {
  const conditions = [
    ...items.map((ids) => sql`and count_delta.item = any(${ids}::bigint[])`),
    ...variations.map((ids) => sql`and count_delta.variation = any(${ids}::bigint[])`),
    ...subevents.map((ids) => sql`and count_delta.subevent = any(${ids}::bigint[])`),
  ];
  return db.one<ListCounts>(sql`
    select coalesce(sum(count_delta.positions) filter (where count_delta.list = 0), 0)::bigint as positions,
           coalesce(sum(count_delta.entered) filter (where count_delta.list = ${list}), 0)::bigint as entered
      from count_delta
     where count_delta.organizer = ${organizer}
       and count_delta.event = ${event}
       and count_delta.list in (0, ${list})
       and count_delta.counted_as = any(${countedAs}::text[])
       ${joinSql(conditions, "\n       ")}`);
}

export interface ItemCounts {
  readonly item: number;
  readonly variation: number | null;
  readonly positions: number;
  readonly entered: number;
  readonly inside: number;
}

/** Counts one list by item and variation; pairs without tickets are left out. */
export async function countByItem(db: Queryable, { organizer, event, id }: EntityKey): Promise<ItemCounts[]> {
  return db.many<ItemCounts>(sql`
    select count_delta.item, nullif(count_delta.variation, 0) as variation,
           sum(count_delta.positions)::bigint as positions,
           sum(count_delta.entered)::bigint as entered,
           sum(count_delta.inside)::bigint as inside
      from list
      join count_delta on ${isCounted}
     where list.organizer = ${organizer}
       and list.event = ${event}
       and list.id = ${id}
     group by count_delta.item, count_delta.variation`);
}

/** Rows compacted at a time: enough for the busiest seconds, few enough to be quick. */
export const mostCompacted = 20_000;

/**
 * Compacts the increments of each bucket into one row; zero sums are deleted. Returns how many rows it replaced.
 *
 * One statement inserts the sum of the rows that it deletes: a concurrent count sees the old rows or their sum, and a
 * concurrent run finds nothing left to delete. Lists are locked, because the deletion of a list would miss a sum that
 * is inserted after it; lists that are being deleted are skipped.
 */
export async function compactIncrements(db: Queryable): Promise<number> {
  const { replaced } = await db.one<{ replaced: number }>(sql`
    with crowded as (
      select distinct fresh.organizer, fresh.event, fresh.list, fresh.subevent, fresh.item, fresh.variation, fresh.counted_as
        from (select count_delta.organizer, count_delta.event, count_delta.list, count_delta.subevent, count_delta.item,
                     count_delta.variation, count_delta.counted_as
                from count_delta
               where not count_delta.folded
               order by count_delta.id
               limit ${mostCompacted}) as fresh
    ), held_list as (
      select list.organizer, list.event, list.id
        from list
       where (list.organizer, list.event, list.id) in (select crowded.organizer, crowded.event, crowded.list from crowded)
         for key share of list skip locked
    ), deleted as (
      delete from count_delta
       using crowded
       where (crowded.list = 0
              or (crowded.organizer, crowded.event, crowded.list)
                 in (select held_list.organizer, held_list.event, held_list.id from held_list)
              or not exists (select from list
                              where list.organizer = crowded.organizer and list.event = crowded.event and list.id = crowded.list))
         and count_delta.organizer = crowded.organizer
         and count_delta.event = crowded.event
         and count_delta.list = crowded.list
         and count_delta.subevent = crowded.subevent
         and count_delta.item = crowded.item
         and count_delta.variation = crowded.variation
         and count_delta.counted_as = crowded.counted_as
      returning count_delta.organizer, count_delta.event, count_delta.list, count_delta.subevent, count_delta.item,
                count_delta.variation, count_delta.counted_as, count_delta.positions, count_delta.entered, count_delta.inside
    ), sums as (
      insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside, folded)
      select deleted.organizer, deleted.event, deleted.list, deleted.subevent, deleted.item, deleted.variation, deleted.counted_as,
             sum(deleted.positions), sum(deleted.entered), sum(deleted.inside), true
        from deleted
       group by deleted.organizer, deleted.event, deleted.list, deleted.subevent, deleted.item, deleted.variation, deleted.counted_as
      having sum(deleted.positions) <> 0 or sum(deleted.entered) <> 0 or sum(deleted.inside) <> 0
    )
    select count(*) as replaced
      from deleted`);
  return replaced;
}
