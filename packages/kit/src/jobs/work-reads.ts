import type { Queryable } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { millis, type WorkKey } from "./work-table.ts";

export type FoundRow = {
  readonly owner: string;
  readonly done: number | null;
  readonly total: number | null;
  /** Only where clients may read it. */
  readonly cause: string | null;
} & (
  | { readonly state: "succeeded"; readonly result: Buffer }
  | { readonly state: "waiting" | "running" | "failed" | "expired" }
);

/** Finds work in its current state, also where a lease or a time to read has ended and no process has noticed. */
export async function find(db: Queryable, { kind, id }: WorkKey): Promise<FoundRow | undefined> {
  return db.maybeOne<FoundRow>(sql`
    select work.owner, work.done, work.total, work.result,
           case when work.due_at > now() or work.due_at is null then work.state
                when work.state = 'running' then 'waiting'
                when work.state in ('succeeded', 'failed') then 'expired'
                else work.state end as state,
           case when work.is_public then work.cause end as cause
      from work
     where work.kind = ${kind}
       and work.id = ${id}`);
}

export interface Measured {
  readonly kind: string;
  readonly waiting: number;
  readonly running: number;
  /** How long the oldest has been waiting. */
  readonly seconds: number;
}

/** Counts, and looks for the oldest, among so many of each kind: no scrape is to take as long as the line. */
export async function measure(
  db: Queryable,
  { kinds, mostCounted }: { kinds: readonly string[]; mostCounted: number },
): Promise<Measured[]> {
  return db.many<Measured>(sql`
    select wanted.kind, waiting.count as waiting, running.count as running, coalesce(waiting.seconds, 0)::float8 as seconds
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
                limit ${mostCounted}) as claimed) as running`);
}

export async function findOld(
  db: Queryable,
  { olderThanMs }: { olderThanMs: number },
): Promise<{ kind: string; state: "waiting" | "running"; count: number; seconds: number; cause: string | null }[]> {
  return db.many(sql`
    select work.kind, work.state, count(*) as count,
           floor(extract(epoch from clock_timestamp() - min(work.enqueued_at)))::bigint as seconds,
           max(work.cause) as cause
      from work
     where work.state in ('waiting', 'running')
       and work.enqueued_at <= now() - ${millis(olderThanMs)}
     group by work.kind, work.state
     order by work.kind, work.state`);
}
