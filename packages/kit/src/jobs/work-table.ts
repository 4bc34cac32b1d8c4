import { toByteaArray } from "../pg/binary-array.ts";
import type { Queryable } from "../pg/database.ts";
import { type Sql, sql } from "../pg/sql.ts";
import { isWithin, type WorkRange } from "./work-range.ts";

/**
 * The table of work, and the only statements that change it.
 *
 * | from | when | to |
 * |---|---|---|
 * | – | it is enqueued | waiting, ready |
 * | waiting, ready | a worker claims it: a lease, a higher token, one more try | running |
 * | running | its worker extends the lease | running, with a new lease |
 * | running | its worker stores the effect, in one transaction with this | succeeded |
 * | running | its worker fails it for ever | failed |
 * | running | a try fails, or the lease ends; tries are left | waiting, in backoff |
 * | running | the last try fails, or its lease ends | failed |
 * | running | its worker stops | waiting, ready, first in the queue; the try does not count |
 * | waiting, in backoff | the backoff ends | waiting, ready, last of its owner |
 * | succeeded, failed | the time to read the result is over | expired |
 * | any but running | what it needs or has made is erased | expired |
 * | any | what it is about is gone | expired |
 * | expired | a week later | – |
 *
 * `turn` is the position in the queue: null unless ready. Owners take turns: a row comes one turn behind the last row of
 * its owner, or in the current turn if its owner has no other. A running row has had its turn: the row of an owner without
 * any other comes before the first ready row of an owner with a running one. `due_at` is when a state ends by itself. All
 * times are the database's.
 * A worker can write only with the token of its claim.
 */
export interface WorkKey {
  readonly kind: string;
  readonly id: string;
}

export interface Claim extends WorkKey {
  readonly token: number;
}

/** The most rows that one statement moves when their time has come. */
const atATime = 1000;

const runsFor = (kind: Sql, owner: Sql) => sql`
  exists (select from work as running where running.state = 'running' and running.kind = ${kind} and running.owner = ${owner})`;

/** The first turns of new rows, each the last of its owner, as `line`; `owners` has a kind and an owner in each row. */
const turnsOf = (owners: Sql) => sql`
    line as materialized (
      select owners.kind, owners.owner,
             coalesce(
               (select max(queued.turn) + 1 from work as queued
                 where queued.kind = owners.kind and queued.owner = owners.owner and queued.state = 'waiting'),
               (select queued.turn
                       - (${runsFor(sql`queued.kind`, sql`queued.owner`)} and not ${runsFor(sql`owners.kind`, sql`owners.owner`)})::integer
                  from work as queued
                 where queued.kind = owners.kind and queued.turn is not null
                 order by queued.turn, queued.enqueued_at
                 limit 1),
               1) as turn
        from (${owners}) as owners
    )`;

/** Wakes the workers of this schema when the transaction commits. */
const wakeUp = (kind: Sql) => sql`pg_notify(current_schema() || ' work', ${kind})`;

/** The channel on which workers are woken. */
export function channelOf(schema: string): string {
  return `${schema} work`;
}

/** Adds work. Existing work stays unchanged. Returns the number of new rows. */
export async function insert(
  tx: Queryable,
  added: {
    readonly kind: string;
    readonly mostTries: number;
    readonly keepMs: number;
    readonly traceparent: string | null;
    readonly rows: readonly {
      readonly id: string;
      readonly owner: string;
      readonly payload: Uint8Array;
      readonly bytes: number;
    }[];
  },
): Promise<number> {
  const { kind, rows } = added;
  const { count } = await tx.one<{ count: number }>(sql`
    with ${turnsOf(sql`select distinct ${kind}::text as kind, sent.owner from unnest(${rows.map(({ owner }) => owner)}::text[]) as sent (owner)`)}, added as (
      insert into work (kind, id, owner, turn, most_tries, keep, payload, bytes, traceparent)
      select ${kind}, sent.id, sent.owner, line.turn + row_number() over (partition by sent.owner order by sent.ord) - 1,
             ${added.mostTries}, ${millis(added.keepMs)}, sent.payload, sent.bytes, ${added.traceparent}
        from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ owner }) => owner)}::text[],
                    ${toByteaArray(rows.map(({ payload }) => payload))}::bytea[], ${rows.map(({ bytes }) => bytes)}::bigint[])
             with ordinality as sent (id, owner, payload, bytes, ord)
        join line on line.owner = sent.owner
          on conflict (kind, id) do nothing
      returning work.kind
    )
    select count(*) as count, ${wakeUp(sql`${kind}`)} as woken from added`);
  return count;
}

export async function countWaiting(tx: Queryable, { kind, owner }: { kind: string; owner: string }): Promise<number> {
  const { count } = await tx.one<{ count: number }>(sql`
    select count(*) as count
      from work
     where work.kind = ${kind}
       and work.owner = ${owner}
       and work.state = 'waiting'`);
  return count;
}

/** What files of an owner's work take, those that are being made and those that are expected among them; `except` is left out. */
export async function sumBytes(
  tx: Queryable,
  { kind, owner, except = "" }: { kind: string; owner: string; except?: string },
): Promise<number> {
  const { bytes } = await tx.one<{ bytes: number }>(sql`
    select coalesce(sum(work.bytes), 0)::bigint as bytes
      from work
     where work.kind = ${kind}
       and work.owner = ${owner}
       and work.bytes > 0
       and work.state in ('waiting', 'running', 'succeeded')
       and work.id <> ${except}`);
  return bytes;
}

export interface ClaimedRow {
  readonly id: string;
  readonly owner: string;
  readonly payload: Buffer;
  readonly token: number;
  readonly tries: number;
  /** What its files may take so far. */
  readonly bytes: number;
  readonly traceparent: string | null;
}

/**
 * Claims the next work of the queue, but none of some owners. The ids are an array, not a join, and the owner is an expression,
 * of which nothing is known: else a plan would read the whole table, for an unknown `most` or where most rows are of one owner.
 */
export async function claim(
  db: Queryable,
  { kind, most, leaseMs, except = [] }: { kind: string; most: number; leaseMs: number; except?: readonly string[] },
): Promise<ClaimedRow[]> {
  return db.many<ClaimedRow>(sql`
    with next as materialized (
      select work.id
        from work
       where work.kind = ${kind}
         and work.turn is not null
         and work.owner || '' <> all(${except}::text[])
       order by work.turn, work.enqueued_at
       limit ${most}
         for update skip locked
    )
    update work
       set state = 'running',
           turn = null,
           due_at = now() + ${millis(leaseMs)},
           token = work.token + 1,
           tries = work.tries + 1
     where work.kind = ${kind}
       and work.id = any(array(select next.id from next))
    returning work.id, work.owner, work.payload, work.token, work.tries, work.bytes, work.traceparent`);
}

const held = ({ kind, id, token }: Claim) =>
  sql`work.kind = ${kind} and work.id = ${id} and work.token = ${token} and work.state = 'running'`;

/** Extends a lease; false: the lease is lost. */
export async function beat(db: Queryable, claimed: Claim, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const beaten = await db.run(
    sql`update work set due_at = clock_timestamp() + ${millis(leaseMs)} where ${held(claimed)}`,
  );
  return beaten > 0;
}

/** Locks a claimed row until the transaction ends, so that no other process can claim it before the commit. */
export async function hold(tx: Queryable, claimed: Claim): Promise<boolean> {
  return (await tx.run(sql`select from work where ${held(claimed)} for update`)) > 0;
}

export async function noteProgress(
  db: Queryable,
  claimed: Claim,
  { done, total }: { done: number; total: number },
): Promise<boolean> {
  return (await db.run(sql`update work set done = ${done}, total = ${total} where ${held(claimed)}`)) > 0;
}

/** Notes what the file of a piece of work takes. */
export async function reserve(tx: Queryable, claimed: Claim, bytes: number): Promise<void> {
  await tx.run(sql`update work set bytes = ${bytes} where ${held(claimed)}`);
}

/** Ends a piece of work. The same transaction stores its effect. */
export async function succeed(
  tx: Queryable,
  claimed: Claim,
  result: Uint8Array,
  { bytes = 0 }: { readonly bytes?: number } = {},
): Promise<boolean> {
  const ended = await tx.run(sql`
    update work
       set state = 'succeeded',
           due_at = clock_timestamp() + work.keep,
           payload = null,
           result = ${Buffer.from(result)},
           bytes = ${bytes},
           cause = null
     where ${held(claimed)}`);
  return ended > 0;
}

/** Ends a piece of work that no further try can do. Clients may read the cause. */
export async function fail(db: Queryable, claimed: Claim, cause: string): Promise<boolean> {
  const ended = await db.run(sql`
    update work
       set state = 'failed',
           due_at = clock_timestamp() + work.keep,
           payload = null,
           cause = ${cause},
           is_public = true
     where ${held(claimed)}`);
  return ended > 0;
}

const hasTries = sql`work.tries < work.most_tries`;

/** The state after a failed try. The backoff grows from one second to one minute. */
const afterFailure = (cause: string) => sql`
  state = case when ${hasTries} then 'waiting' else 'failed' end,
  due_at = now() + case when ${hasTries} then make_interval(secs => least(60, 2 ^ least(work.tries - 1, 6)))
                        else work.keep end,
  payload = case when ${hasTries} then work.payload end,
  cause = ${cause}`;

/** Ends a failed try; returns the new state, undefined: the lease is lost. */
export async function failTry(
  db: Queryable,
  claimed: Claim,
  cause: string,
): Promise<{ readonly state: "waiting" | "failed" } | undefined> {
  return db.maybeOne(sql`update work set ${afterFailure(cause)} where ${held(claimed)} returning work.state`);
}

/** Gives up a claim, so that the next worker claims the work at once. */
export async function giveBack(db: Queryable, claimed: Claim): Promise<void> {
  const { kind } = claimed;
  await db.run(sql`
    with given as (
      update work
         set state = 'waiting',
             turn = coalesce((select min(queued.turn) from work as queued
                               where queued.kind = ${kind} and queued.turn is not null), 1),
             due_at = null,
             tries = work.tries - 1
       where ${held(claimed)}
      returning work.kind
    )
    select ${wakeUp(sql`given.kind`)} from given`);
}

/** Locks work, as `old`, and expires what of it meets a condition. */
const expiring = (range: WorkRange, condition: Sql) => sql`
    old as materialized (
      select work.kind, work.id, work.state, work.result
        from work
       where ${isWithin(range)}
         and work.state <> 'expired'
       order by work.id
         for update
    ), expired as (
      update work
         set state = 'expired',
             turn = null,
             due_at = now() + interval '7 days',
             payload = null,
             result = null,
             cause = null
        from old
       where work.kind = old.kind and work.id = old.id
         and ${condition}
    )`;

/** Expires work that does not run; returns how much of it had a result, and how much runs. */
export async function expire(
  tx: Queryable,
  range: WorkRange,
): Promise<{ readonly results: number; readonly running: number }> {
  return tx.one(sql`
    with ${expiring(range, sql`old.state <> 'running'`)}
    select count(*) filter (where old.state = 'succeeded') as results, count(*) filter (where old.state = 'running') as running
      from old`);
}

/** Expires work, also what runs, which loses its lease; returns the ids, with the results. */
export async function end(
  tx: Queryable,
  range: WorkRange,
): Promise<{ readonly id: string; readonly result: Buffer | null }[]> {
  return tx.many(sql`
    with ${expiring(range, sql`true`)}
    select old.id, old.result from old order by old.id`);
}

/** Moves rows at the end of their time. Returns the kinds of work that failed by it, once for each piece. */
export async function moveDue(db: Queryable): Promise<readonly string[]> {
  const lapsed = await db.many<{ kind: string; state: string }>(sql`
    ${due("running")}
    update work set ${afterFailure("its worker ended, or did not extend its lease")}
      from due
     where work.kind = due.kind and work.id = due.id
    returning work.kind, work.state`);
  await db.run(sql`
    ${due("waiting")}, ${turnsOf(sql`select distinct due.kind, due.owner from due`)}, rested as (
      select due.kind, due.id,
             line.turn + row_number() over (partition by due.kind, due.owner order by due.enqueued_at) - 1 as turn
        from due
        join line on line.kind = due.kind and line.owner = due.owner
    ), ready as (
      update work
         set turn = rested.turn,
             due_at = null
        from rested
       where work.kind = rested.kind and work.id = rested.id
      returning work.kind
    )
    select ${wakeUp(sql`ready.kind`)} from ready`);
  await db.run(sql`
    ${due("succeeded", "failed")}
    update work
       set state = 'expired',
           due_at = now() + interval '7 days',
           result = null,
           cause = null
      from due
     where work.kind = due.kind and work.id = due.id`);
  await db.run(sql`
    ${due("expired")}
    delete from work using due where work.kind = due.kind and work.id = due.id`);
  return lapsed.filter(({ state }) => state === "failed").map(({ kind }) => kind);
}

/** Rows at the end of their time. Rows that another process has locked are skipped. */
function due(...states: readonly string[]): Sql {
  return sql`
    with due as materialized (
      select work.kind, work.id, work.owner, work.enqueued_at
        from work
       where work.state = any(${states}::text[])
         and work.due_at <= now()
       order by work.due_at
       limit ${atATime}
         for update skip locked
    )`;
}

function millis(ms: number): Sql {
  return sql`make_interval(secs => ${ms}::float8 / 1000)`;
}
