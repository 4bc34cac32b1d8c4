import type { Log } from "../log.ts";
import type { Db, Dedicated } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Bus, Message } from "./bus.ts";
import { header } from "./headers.ts";

export interface Relay {
  stop(): Promise<void>;
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
  created_at: number;
}

/** Large enough that a bus and a consumer's transaction are worth their round trips, small enough to stay below some megabytes. */
const batchSize = 500;

/** Rows of other processes arrive without a wake-up; this is how late the relay may notice them. */
const pollMs = 50;

const longestPauseMs = 5000;

/**
 * Moves facts from one schema's outbox to the bus.
 *
 * One relay per schema leads, by advisory lock on the connection it reads
 * through: losing the connection is losing the lead. Rows leave in the order of
 * their ids. Two transactions that write facts of one key hold the same row
 * lock while they do, so ids are commit order per key; a row that commits late
 * with a small id is taken when it appears, for rows are deleted and no cursor
 * is kept.
 */
export function startRelay(options: { db: Db; bus: Bus; log: Log; onBatch?: (facts: number) => void }): Relay {
  const { db, bus, log } = options;
  let stopped = false;
  let wake = () => {};
  db.onOutbox(() => wake());

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function lead(connection: Dedicated, lost: () => boolean): Promise<void> {
    while (!stopped && !lost()) {
      const { leading } = await connection.one<{ leading: boolean }>(
        sql`select pg_try_advisory_lock(hashtextextended(${`tessera relay ${db.schema}`}, 0)) as leading`,
      );
      if (leading) break;
      await pause(1000);
    }
    while (!stopped && !lost()) {
      const moved = await moveBatch(connection, bus);
      if (moved > 0) options.onBatch?.(moved);
      if (moved < batchSize && !stopped) await pause(pollMs);
    }
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopped) {
      let connection: Dedicated | undefined;
      try {
        connection = await db.dedicated();
        let lost = false;
        connection.onLost(() => {
          lost = true;
          wake();
        });
        await lead(connection, () => lost);
        failures = 0;
      } catch (error) {
        if (!stopped) {
          failures += 1;
          log.warn("facts are waiting: the relay could not move them", { schema: db.schema, error });
          await pause(Math.min(longestPauseMs, 100 * 2 ** failures));
        }
      } finally {
        await connection?.release().catch(() => {});
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}

async function moveBatch(connection: Dedicated, bus: Bus): Promise<number> {
  const rows = await connection.many<OutboxRow>(sql`
    select outbox.id, outbox.fact_id, outbox.topic, outbox.key, outbox.partition, outbox.payload, outbox.marker,
           outbox.traceparent, outbox.created_at
      from outbox
     order by outbox.id
     limit ${batchSize}`);
  for (const run of runsByTopic(rows)) {
    await bus.publish(run[0]?.topic ?? "", run.map(toMessage));
    await connection.run(sql`delete from outbox where outbox.id = any(${run.map((row) => row.id)}::bigint[])`);
  }
  return rows.length;
}

function runsByTopic(rows: readonly OutboxRow[]): OutboxRow[][] {
  const runs: OutboxRow[][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last?.[0]?.topic === row.topic) last.push(row);
    else runs.push([row]);
  }
  return runs;
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
    },
    ...(row.partition === null ? {} : { partition: row.partition }),
  };
}
