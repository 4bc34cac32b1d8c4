import { setTimeout as sleep } from "node:timers/promises";
import { createAlarm } from "../alarm.ts";
import { backoff } from "../backoff.ts";
import { startLeader } from "../jobs/leader.ts";
import type { Log } from "../log.ts";
import type { Db, Dedicated } from "../pg/database.ts";
import { declareLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import type { Bus, Message } from "./bus.ts";
import { header } from "./headers.ts";

export interface Relay {
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly db: Db;
  readonly bus: Bus;
  readonly log: Log;
  readonly onBatch?: (facts: number) => void;
  readonly batchSize?: number;
}

interface OutboxRow {
  id: number;
  fact_id: string;
  topic: string;
  key: string;
  partition: number | null;
  payload: Buffer | null;
  marker: string | null;
  traceparent: string | null;
  headers: Readonly<Record<string, string>> | null;
  created_at: number;
}

const relayLock = declareLock("tessera relay");

/** Large enough to be worth a round trip to the bus and a transaction of a consumer, small enough to stay below some megabytes. */
const defaultBatchSize = 500;

/** Other processes do not wake this relay. It may notice their rows this late. */
const pollMs = 50;

/**
 * A publication costs about the same for any number of facts. After a small one the relay waits this long, and publishes
 * the facts of that time together. A single fact does not wait.
 */
const gatherMs = 20;

/** A publication that takes longer no longer delays other topics. */
const patienceMs = 200;

const pauses = { firstMs: 200, longestMs: 5000 };

/**
 * An idle relay spends at most one part in eleven of its time with reading. While an old snapshot keeps Postgres from
 * vacuuming, each read goes through all rows that were deleted since.
 */
const lookingShare = 10;

/** Facts that the bus has not taken by then stay in the outbox. */
const longestStopMs = 5000;

/**
 * Moves facts from one schema's outbox to the bus.
 *
 * One relay per schema leads, and reads on the connection that holds its lock. The rows of each topic are published in
 * the order of their ids, one batch at a time. Transactions that write facts of one key hold the same row lock, so the ids
 * of a key are in commit order. A row may commit late with a small id. The relay still finds it, because published rows
 * are deleted and each read begins at the start of the outbox; a cursor would skip it. A topic that the bus does not take,
 * or that has a stuck consumer, does not stop the others.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, bus, log, onBatch = () => {}, batchSize = defaultBatchSize } = options;
  const alarm = createAlarm();
  db.onOutbox(alarm.ring);
  // A publication may go on after the connection, and with it the lead, is lost. So these outlive the lead.
  const held = new Set<string>();
  /** Topics that were claimed since this lead began and since their last failed publication. */
  const claimed = new Set<string>();
  const underWay = new Set<Promise<void>>();
  const failures = new Map<string, number>();

  async function move(connection: Dedicated, topic: string, rows: readonly OutboxRow[]): Promise<void> {
    const started = performance.now();
    try {
      if (bus.claim !== undefined && !claimed.has(topic)) {
        await bus.claim(topic);
        claimed.add(topic);
        // Another process may have published these rows before the claim: they are read again.
        alarm.ring();
        return;
      }
      await bus.publish(topic, rows.map(toMessage));
      await connection.run(sql`delete from outbox where outbox.id = any(${rows.map((row) => row.id)}::bigint[])`);
      failures.delete(topic);
      onBatch(rows.length);
    } catch (error) {
      claimed.delete(topic);
      if (alarm.stopped) return;
      const failed = (failures.get(topic) ?? 0) + 1;
      failures.set(topic, failed);
      log.warn("facts are waiting: the relay could not move them", { schema: db.schema, topic, error });
      await alarm.pause(backoff(pauses, failed));
    } finally {
      held.delete(topic);
      if (performance.now() - started > patienceMs) alarm.ring();
    }
  }

  async function lead(connection: Dedicated, signal: AbortSignal): Promise<void> {
    claimed.clear();
    // A crash may undo a deletion. Then a fact is published twice, which its consumers notice: no need to wait for the disk.
    await connection.run(sql`set synchronous_commit = off`);
    while (!signal.aborted) {
      const looked = performance.now();
      const rows = await readOutbox(connection, { without: [...held], batchSize });
      const tookMs = performance.now() - looked;
      const moves = [...Map.groupBy(rows, (row) => row.topic)].map(([topic, batch]) => {
        held.add(topic);
        const moving = move(connection, topic, batch).finally(() => underWay.delete(moving));
        underWay.add(moving);
        return moving;
      });
      if (moves.length > 0) await settledOr(patienceMs, moves);
      if (moves.length > 0 && rows.length < batchSize)
        await alarm.pause(Math.max(0, looked + gatherMs - performance.now()));
      if (rows.length < batchSize) await alarm.pause(Math.max(pollMs, lookingShare * tookMs), { lightly: true });
    }
    if (alarm.stopped) await Promise.all(underWay);
  }

  const leader = startLeader({ db, lock: relayLock(db.schema), log, lead });
  return {
    async stop() {
      alarm.stop();
      await settledOr(longestStopMs, [leader.stop()]);
    },
  };
}

/** Reads the oldest rows, except those of some topics. */
async function readOutbox(
  connection: Dedicated,
  { without, batchSize }: { without: readonly string[]; batchSize: number },
): Promise<OutboxRow[]> {
  return connection.many<OutboxRow>(sql`
    select outbox.id, outbox.fact_id, outbox.topic, outbox.key, outbox.partition, outbox.payload, outbox.marker,
           outbox.traceparent, outbox.headers, outbox.created_at
      from outbox
     where outbox.topic <> all(${without}::text[])
     order by outbox.id
     limit ${batchSize}`);
}

/** Waits until all work is done, but no longer than the time. */
async function settledOr(ms: number, work: readonly Promise<void>[]): Promise<void> {
  const enough = new AbortController();
  const time = sleep(ms, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([Promise.all(work), time]);
  enough.abort();
}

function toMessage(row: OutboxRow): Message {
  return {
    key: row.key,
    value: row.payload,
    headers: {
      [header.factId]: row.fact_id,
      [header.at]: String(row.created_at),
      ...(row.traceparent === null ? {} : { [header.traceparent]: row.traceparent }),
      ...(row.marker === null ? {} : { [header.marker]: row.marker }),
      ...row.headers,
    },
    ...(row.partition === null ? {} : { partition: row.partition }),
  };
}
