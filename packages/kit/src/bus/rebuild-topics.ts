import { isTransient } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Job } from "../jobs/interval.ts";
import type { Db, Queryable, Tx } from "../pg/database.ts";
import { declareLock, takeLocks, tryLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import { describeCause } from "../telemetry/describe-cause.ts";
import type { Log } from "../telemetry/log.ts";
import { pause } from "../waiting/pause.ts";
import type { Bus } from "./bus.ts";
import { header } from "./headers.ts";
import { rebuildKey } from "./pass-markers.ts";

/** How the owner of a topic publishes its current data again. `K` is a keyset cursor, stored as JSON. */
export interface Rebuild<K = unknown> {
  readonly topic: { readonly name: string; readonly retention: { readonly kind: "compacted" | "days" } };
  /**
   * Draws the cutoff. Entities: a revision above every revision so far; no transaction may still write with an older one.
   * Facts that are kept for days: the limit between those that are published again and those that publish themselves.
   */
  drawCutoff(tx: Tx): Promise<number>;
  /** About how many there are. */
  count(db: Queryable): Promise<number>;
  /**
   * Publishes the next batch behind a cursor, under the locks of its writers; entities with revisions above the cutoff.
   * Undefined: there are no more.
   */
  publishNext(tx: Tx, at: RebuildPlace<K>): Promise<{ readonly last: K; readonly published: number } | undefined>;
}

export interface RebuildPlace<K> {
  /** Undefined: the beginning. */
  readonly after: K | undefined;
  readonly limit: number;
  readonly cutoff: number;
}

const rebuildLock = declareLock("tessera rebuild");

/** How late a requested rebuild may begin. */
const everyMs = 1000;

const defaultBatchSize = 500;

/** The most facts of a rebuild in the outbox. New facts wait behind them, a fraction of a second for the relay. */
const longestQueue = 2000;

/** The pause until the relay has made room, or another process has ended its turn. */
const restMs = 50;

interface Row {
  readonly topic: string;
  readonly line: number | null;
  readonly begun_at: number | null;
  readonly place: string | null;
  readonly finished_at: number | null;
}

/** `rest`: try again later. `over`: nothing is left to do. */
type Progress = "on" | "rest" | "over";

/**
 * Publishes topics again as rows of `rebuild` request it, a batch per transaction.
 *
 * The transaction that publishes a batch also updates the row, so any process can continue behind it. Topics take turns,
 * and processes take turns at one topic. The last step writes a marker to each partition, behind all other facts. A
 * consumer that has passed all markers deletes what its copy still has from before the cutoff. A failure that does not
 * pass by itself ends the rebuild: its row gets the cause, and no copy is swept.
 */
export function rebuildTopics(options: {
  db: Db;
  bus: Bus;
  rebuilds: readonly Rebuild[];
  log: Log;
  batchSize?: number;
}): Job {
  const { db, bus, log, batchSize = defaultBatchSize } = options;
  const rebuilds = new Map(options.rebuilds.map((rebuild) => [rebuild.topic.name, rebuild]));

  async function advance({ id, topic }: { id: string; topic: string }): Promise<Progress> {
    const rebuild = rebuilds.get(topic);
    try {
      if (rebuild === undefined) throw new Error(`this service does not own ${topic}, or cannot rebuild it`);
      return await step(rebuild, id);
    } catch (error) {
      if (isTransient(error)) {
        log.warn("a rebuild is waiting: it cannot go on now", { topic, error });
        return "rest";
      }
      log.error("a rebuild was given up; nothing is swept", { topic, error });
      await giveUp(db, id, rebuild === undefined ? "this service cannot rebuild the topic" : describeCause(error));
      return "over";
    }
  }

  async function step(rebuild: Rebuild, id: string): Promise<Progress> {
    const topic = rebuild.topic.name;
    if (!(await hasRoom(db, topic))) return "rest";
    const progress = await db.transaction((tx) => writeNext(tx, rebuild, { id, batchSize }));
    if (progress === "begun") {
      log.info("rebuild begun", { topic });
      await db.run(sql`update rebuild set expected = ${await rebuild.count(db)} where rebuild.id = ${id}`);
      return "on";
    }
    if (progress !== "written") return progress;
    const partitions = await bus.partitions(topic);
    if (partitions === 0) throw fault("bus_unavailable", "the bus knows no partition of the topic");
    const finished = await db.transaction((tx) => finish(tx, rebuild, { id, partitions }));
    if (finished) log.info("rebuild written", { topic });
    return "over";
  }

  return {
    name: "rebuild-topics",
    everyMs,
    async run(signal) {
      while (!signal.aborted) {
        const steps: Progress[] = [];
        for (const row of await findUnfinished(db)) if (!signal.aborted) steps.push(await advance(row));
        if (steps.every((progress) => progress === "over")) return;
        if (!steps.includes("on")) await pause(restMs, signal);
      }
    },
  };
}

/** Of one topic only the oldest: the others begin when it has ended. */
async function findUnfinished(db: Db): Promise<{ id: string; topic: string }[]> {
  return db.many(sql`
    select distinct on (rebuild.topic) rebuild.id, rebuild.topic
      from rebuild
     where rebuild.finished_at is null
     order by rebuild.topic, rebuild.requested_at, rebuild.id`);
}

async function hasRoom(db: Db, topic: string): Promise<boolean> {
  const { waiting } = await db.one<{ waiting: number }>(sql`
    select count(*) as waiting
      from (select from outbox where outbox.topic = ${topic} limit ${longestQueue}) as waiting`);
  return waiting < longestQueue;
}

async function writeNext(
  tx: Tx,
  rebuild: Rebuild,
  { id, batchSize }: { id: string; batchSize: number },
): Promise<Progress | "begun" | "written"> {
  const row = await takeTurn(tx, id);
  if (row === undefined) return "rest";
  if (row.finished_at !== null) return "over";
  if (row.line === null) {
    const cutoff = await rebuild.drawCutoff(tx);
    // The current time: the facts behind the cutoff are of transactions that begin later.
    await tx.run(sql`update rebuild set line = ${cutoff}, begun_at = clock_timestamp() where rebuild.id = ${id}`);
    return "begun";
  }
  const after: unknown = row.place === null ? undefined : JSON.parse(row.place);
  const next = await rebuild.publishNext(tx, { after, limit: batchSize, cutoff: row.line });
  if (next === undefined) return "written";
  await tx.run(sql`
    update rebuild
       set place = ${JSON.stringify(next.last)},
           written = rebuild.written + ${next.published}
     where rebuild.id = ${id}`);
  return "on";
}

/** Takes the turn until the transaction ends: one process at a time continues. Undefined: another process has it. */
async function takeTurn(tx: Tx, id: string): Promise<Row | undefined> {
  if (!(await tryLock(tx, rebuildLock(id)))) return undefined;
  return tx.maybeOne<Row>(sql`
    select rebuild.topic, rebuild.line, rebuild.begun_at, rebuild.place, rebuild.finished_at
      from rebuild
     where rebuild.id = ${id}`);
}

async function finish(
  tx: Tx,
  rebuild: Rebuild,
  { id, partitions }: { id: string; partitions: number },
): Promise<boolean> {
  const row = await takeTurn(tx, id);
  if (row === undefined || row.line === null || row.begun_at === null || row.finished_at !== null) return false;
  const isOfEntities = rebuild.topic.retention.kind === "compacted";
  const headers = {
    [header.sweepBelow]: String(row.line),
    [header.sweepPartitions]: String(partitions),
    [header.sweepSince]: String(row.begun_at),
  };
  // A key of its own and a value, so that compaction keeps the last marker: it sweeps copies that begin later, too.
  await tx.run(sql`
    insert into outbox (topic, key, partition, payload, marker, headers)
    select ${row.topic}, ${rebuildKey}, place.partition, ''::bytea, ${id}::uuid,
           ${isOfEntities ? JSON.stringify(headers) : null}::jsonb
      from generate_series(0, ${partitions - 1}::integer) as place (partition)`);
  await tx.run(sql`
    update rebuild
       set partitions = ${partitions},
           finished_at = clock_timestamp()
     where rebuild.id = ${id}`);
  return true;
}

async function giveUp(db: Db, id: string, cause: string): Promise<void> {
  await db.transaction(async (tx) => {
    await takeLocks(tx, { alone: [rebuildLock(id)] });
    await tx.run(sql`
      update rebuild
         set cause = ${cause},
             finished_at = clock_timestamp()
       where rebuild.id = ${id}
         and rebuild.finished_at is null`);
  });
}
