import type { Clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Db, Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { declareLock, takeLocks } from "../pg/locks.ts";
import { identifier, literal, type Sql, sql } from "../pg/sql.ts";
import type { Log } from "../telemetry/log.ts";

const inboxLock = declareLock("tessera inbox");

/** Longer than the retention of any topic with a limit, so that a replay still finds the rows of its facts. */
const inboxDays = 45;

/**
 * A rebuild ends for a consumer when it passes the last marker. That marker may be a dead letter, and an operator may
 * replay it days later. If the other markers were deleted by then, the copy would never be swept.
 */
const rebuildMarkerDays = 14;

/** Other markers are asked about by requests, for seconds. An import leaves one for each partition of each topic. */
const markerHours = 1;

/** An idempotency key is valid for a day. A service remembers requests longer than callers repeat them. */
const requestDays = 2;

const hourMicros = 3_600_000_000;
const dayMicros = 24 * hourMicros;

/** The most rows that one statement deletes, so that none runs into a time limit. */
const mostDeleted = 1000;

/** How long dead letters are kept by default. They may hold personal data, which must not stay for ever. */
export const deadLettersKeptMs = 30 * 86_400_000;

export interface KeepOptions {
  readonly log?: Log;
  /** An operator has this long to replay dead letters. */
  readonly deadLettersMs?: number | undefined;
}

/**
 * Creates the inbox partitions of the next days, drops old ones, and deletes old dead letters, markers, rebuilds and
 * answered requests. Replicas may run it at the same time. What fails keeps nothing else from being done.
 */
export async function keepFactTables(
  db: Db,
  clock: Clock,
  { log, deadLettersMs = deadLettersKeptMs }: KeepOptions = {},
): Promise<void> {
  const now = clock.now();
  const today = Math.floor(now / dayMicros) * dayMicros;
  const oldest = dayOf(today - inboxDays * dayMicros);
  const ago = (micros: number) => sql`${toTimestamp(now - micros)}::timestamptz`;
  await doAll([
    ...[0, 1, 2, 3].map((day) => () => unlessInUse(() => createPartition(db, today + day * dayMicros))),
    () => dropPartitions(db, oldest),
    () => deleteOld(db, "inbox_other", sql`fact_on < ${oldest}::date`),
    () => deleteOld(db, "passed_marker", sql`not is_of_rebuild and passed_at < ${ago(markerHours * hourMicros)}`),
    () => deleteOld(db, "passed_marker", sql`is_of_rebuild and passed_at < ${ago(rebuildMarkerDays * dayMicros)}`),
    () => deleteOld(db, "answered_request", sql`answered_at < ${ago(requestDays * dayMicros)}`),
    async () => {
      const deleted = await deleteOld(db, "dead_letter", sql`parked_at < ${ago(deadLettersMs * 1000)}`);
      if (deleted > 0) log?.warn("parked facts deleted: none of them was replayed in time", { deleted });
    },
    () => deleteOld(db, "rebuild", sql`finished_at < ${oldest}::date`),
  ]);
}

/** Does all parts, one after the other; the first failure is thrown at the end. */
async function doAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (const part of parts) outcomes.push(...(await Promise.allSettled([part()])));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Deletes rows of a table, some at a time, and returns how many. Those that another replica deletes are skipped. */
async function deleteOld(db: Db, table: string, isOld: Sql): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await db.run(sql`
      delete from ${identifier(table)}
       where ctid = any(array(
               select ctid
                 from ${identifier(table)}
                where ${isOld}
                limit ${mostDeleted}
                  for update skip locked))`);
    total += deleted;
    if (deleted < mostDeleted) return total;
  }
}

function dayOf(instant: number): string {
  return toTimestamp(instant).slice(0, 10);
}

function partitionName(day: string): string {
  return `inbox_${day.replaceAll("-", "")}`;
}

async function dropPartitions(db: Db, oldest: string): Promise<void> {
  const old = await db.many<{ name: string }>(sql`
    select child.relname as name
      from pg_inherits
      join pg_class as child on child.oid = pg_inherits.inhrelid
     where pg_inherits.inhparent = 'inbox'::regclass
       and child.relname ~ '^inbox_[0-9]{8}$'
       and child.relname < ${partitionName(oldest)}`);
  for (const { name } of old) await unlessInUse(() => dropPartition(db, name));
}

/** A table in use is left for the next run. Until then facts go to the default partition, and old days only take space. */
async function unlessInUse(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Fault && error.code === "locked")) throw error;
  }
}

/** Creates the partition as a separate table and attaches it, so that consumers of other days do not block it. */
async function createPartition(db: Db, from: number): Promise<void> {
  const [day, next] = [dayOf(from), dayOf(from + dayMicros)];
  const partition = identifier(partitionName(day));
  await db.transaction(async (tx) => {
    if (await isPresentInTurn(tx, db.schema, partitionName(day))) return;
    // Serializes with consumers that write facts of this day to the default partition. Such rows move to the new one.
    await tx.run(sql`lock table inbox_other in access exclusive mode`);
    await tx.run(sql`create table ${partition} (like inbox including defaults including indexes)`);
    const { strays } = await tx.one<{ strays: boolean }>(sql`
      select exists (
        select 1 from inbox_other where inbox_other.fact_on >= ${day}::date and inbox_other.fact_on < ${next}::date
      ) as strays`);
    if (strays) {
      await tx.run(sql`
        with stray as (
          delete from inbox_other
           where inbox_other.fact_on >= ${day}::date and inbox_other.fact_on < ${next}::date
          returning inbox_other.fact_on, inbox_other.consumer, inbox_other.fact_id
        )
        insert into ${partition} (fact_on, consumer, fact_id)
        select stray.fact_on, stray.consumer, stray.fact_id from stray`);
    }
    await tx.run(
      sql`alter table inbox attach partition ${partition} for values from (${literal(day)}) to (${literal(next)})`,
    );
  });
}

async function dropPartition(db: Db, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await isPresentInTurn(tx, db.schema, name))) return;
    // It locks the whole inbox for a moment. While it waits for the lock, all consumers wait behind it.
    await tx.run(sql`set local lock_timeout = '250ms'`);
    await tx.run(sql`drop table ${identifier(name)}`);
  });
}

/** Whether a partition exists. Its lock makes replicas take turns, so that the answer is valid until commit. */
async function isPresentInTurn(tx: Tx, schema: string, name: string): Promise<boolean> {
  await takeLocks(tx, { alone: [inboxLock(schema)] });
  // Not to_regclass: its cache may be older than the lock.
  const row = await tx.maybeOne(sql`
    select 1 from pg_class
     where pg_class.relname = ${name} and pg_class.relnamespace = current_schema()::regnamespace`);
  return row !== undefined;
}
