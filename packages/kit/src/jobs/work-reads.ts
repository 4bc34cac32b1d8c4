import type { Queryable } from "../pg/database.ts";
import { toNullableTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { isWithin, type WorkRange } from "./work-range.ts";

export type FoundRow = {
  readonly kind: string;
  readonly owner: string;
  readonly done: number | null;
  readonly total: number | null;
  /** Only where clients may read it. */
  readonly cause: string | null;
} & (
  | { readonly state: "succeeded"; readonly result: Buffer }
  | { readonly state: "waiting" | "running" | "failed" | "expired" }
);

/** Finds work of one of these kinds in its current state, also when a time limit has passed and no process has moved the row yet. */
export async function find(
  db: Queryable,
  { kinds, id }: { readonly kinds: readonly string[]; readonly id: string },
): Promise<FoundRow | undefined> {
  return db.maybeOne<FoundRow>(sql`
    select work.kind, work.owner, work.done, work.total, work.result,
           case when work.due_at > now() or work.due_at is null then work.state
                when work.state = 'running' then 'waiting'
                when work.state in ('succeeded', 'failed') then 'expired'
                else work.state end as state,
           case when work.is_public then work.cause end as cause
      from work
     where work.kind = any(${kinds}::text[])
       and work.id = ${id}
     limit 1`);
}

/** Work that has not ended for long. */
export interface LateWork {
  readonly kind: string;
  readonly id: string;
  readonly state: "waiting" | "running";
  readonly tries: number;
  readonly seconds: number;
  /** Why its last try failed. */
  readonly cause: string | null;
}

/** Finds work that was enqueued so long ago and has not ended, the oldest first. */
export async function findLate(
  db: Queryable,
  { seconds, most }: { readonly seconds: number; readonly most: number },
): Promise<LateWork[]> {
  return db.many<LateWork>(sql`
    select work.kind, work.id, work.state, work.tries, work.cause,
           extract(epoch from now() - work.enqueued_at)::float8 as seconds
      from work
     where work.state in ('waiting', 'running')
       and work.enqueued_at < now() - make_interval(secs => ${seconds})
     order by work.enqueued_at, work.kind, work.id
     limit ${most}`);
}

/**
 * Makes the question whether some work of a kind is ready, or runs and was claimed or went on since the first question. Work that
 * backs off after a failed try does neither. The work of a killed process runs until its lease ends, and does not count.
 */
export function askIfUnderWay(
  db: Queryable,
  { kind, leaseMs }: { readonly kind: string; readonly leaseMs: number },
): () => Promise<boolean> {
  let since: number | undefined;
  return async () => {
    const { under, now } = await db.one<{ under: boolean; now: number }>(sql`
      select clock_timestamp() as now,
             exists (select
                       from work
                      where work.kind = ${kind}
                        and (work.state = 'running'
                             and work.due_at >= coalesce(${toNullableTimestamp(since)}::timestamptz, now())
                                                + make_interval(secs => ${leaseMs / 1000})
                             or work.state = 'waiting' and (work.due_at is null or work.due_at <= now()))) as under`);
    since ??= now;
    return under;
  };
}

export async function findResults(
  db: Queryable,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
): Promise<{ readonly id: string; readonly result: Buffer }[]> {
  return db.many(sql`
    select work.id, work.result
      from work
     where work.kind = ${kind}
       and work.id = any(${ids}::text[])
       and work.state = 'succeeded'
       and work.due_at > now()`);
}

/** Counts work with results that can be read. */
export async function countResults(db: Queryable, range: WorkRange): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from work
     where ${isWithin(range)}
       and work.state = 'succeeded'`);
  return count;
}

/** Finds those of these ids whose work has not ended, or has a result. */
export async function findAlive(
  db: Queryable,
  { kind, ids }: { readonly kind: string; readonly ids: readonly string[] },
): Promise<{ readonly id: string }[]> {
  return db.many(sql`
    select work.id
      from work
     where work.kind = ${kind}
       and work.id = any(${ids}::text[])
       and work.state in ('waiting', 'running', 'succeeded')`);
}

export interface Measured {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  /** The waiting time of the oldest. */
  readonly seconds: number;
  /** Of files. */
  readonly bytes: number;
}

/** Counts the work of each kind up to a limit: a sample must not take longer with a longer queue. */
export async function measure(
  db: Queryable,
  { kinds, mostCounted }: { kinds: readonly string[]; mostCounted: number },
): Promise<Measured[]> {
  return db.many<Measured>(sql`
    select wanted.kind, waiting.count as waiting, running.count as running, stored.bytes, coalesce(waiting.seconds, 0)::float8 as seconds
      from unnest(${kinds}::text[]) as wanted (kind)
     cross join lateral (
       select count(*) as count, extract(epoch from clock_timestamp() - min(queued.enqueued_at)) as seconds
         from (select work.enqueued_at
                 from work
                where work.kind = wanted.kind and work.state = 'waiting'
                limit ${mostCounted}) as queued) as waiting
     cross join lateral (
       select count(*) as count
         from (select
                 from work
                where work.kind = wanted.kind and work.state = 'running' and work.due_at is not null
                limit ${mostCounted}) as claimed) as running
     cross join lateral (
       select coalesce(sum(kept.bytes), 0)::bigint as bytes
         from (select work.bytes
                 from work
                where work.kind = wanted.kind and work.bytes > 0 and work.state in ('waiting', 'running', 'succeeded')
                limit ${mostCounted}) as kept) as stored`);
}
