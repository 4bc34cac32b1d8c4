import { describeCause } from "../describe-cause.ts";
import { isTransient } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Job } from "../jobs/interval.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";
import type { Db, Queryable, Tx } from "../pg/database.ts";
import { declareLock, takeLocks, tryLock } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import type { Bus } from "./bus.ts";
import { header } from "./headers.ts";

/** How the owner of a topic publishes again what it holds. */
export interface Rebuild {
  readonly topic: { readonly name: string; readonly retention: { readonly kind: "compacted" | "days" } };
  /**
   * Draws a line. Entities: a revision above every one that was given before; nobody who has an older one may still
   * be at work on them. Events: what tells those that are told again from those that tell of themselves.
   */
  drawLine(tx: Tx): Promise<number>;
  /** About how much there is. */
  count(db: Queryable): Promise<number>;
  /**
   * Publishes what comes next behind a place, under the locks that its writers hold; entities with revisions above the
   * line. Returns undefined where there is no more.
   */
  publishNext(tx: Tx, at: RebuildPlace): Promise<{ readonly place: string; readonly published: number } | undefined>;
}

export interface RebuildPlace {
  /** Undefined: the beginning. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly line: number;
}

const rebuildLock = declareLock("tessera rebuild");

/** How late a rebuild that was asked for may begin. */
const everyMs = 1000;

const defaultBatchSize = 500;

/** What is written meanwhile stands behind no more than this in the outbox, which is a fraction of a second's work for the relay. */
const longestQueue = 2000;

/** Until the relay has made room, or the process whose turn it is has written. */
const restMs = 50;

interface Row {
  readonly id: string;
  readonly topic: string;
  readonly line: number | null;
  readonly begun_at: number | null;
  readonly place: string | null;
  readonly finished_at: number | null;
}

/** `rest`: not now. `over`: for this one nothing is left to do. */
type Progress = "on" | "rest" | "over";

/**
 * Publishes topics again that a row of `rebuild` asks for, a batch per transaction.
 *
 * The row says how far it is and changes with what was written, so whoever comes next goes on behind it, whatever
 * happened to the one before. Several topics take turns; several processes take turns at one topic. The last step
 * writes a marker to each partition, behind everything: consumers that have passed them all sweep what they hold from
 * before the line. What fails for good is given up, says why, and sweeps nothing.
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

  async function advance({ id, topic }: Row): Promise<Progress> {
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
    if (!(await hasRoom(db, rebuild.topic.name))) return "rest";
    const progress = await db.transaction(async (tx): Promise<Progress | "begun" | "written"> => {
      const row = await takeTurn(tx, id);
      if (row === undefined) return "rest";
      if (row.finished_at !== null) return "over";
      if (row.line === null) {
        await begin(tx, { id, line: await rebuild.drawLine(tx) });
        return "begun";
      }
      const next = await rebuild.publishNext(tx, {
        after: row.place ?? undefined,
        limit: batchSize,
        line: row.line,
      });
      if (next === undefined) return "written";
      await tx.run(sql`
        update rebuild
           set place = ${next.place},
               written = rebuild.written + ${next.published}
         where rebuild.id = ${id}`);
      return "on";
    });
    if (progress === "begun") {
      log.info("rebuild begun", { topic: rebuild.topic.name });
      await noteExpected(db, { id, expected: await rebuild.count(db) });
      return "on";
    }
    if (progress !== "written") return progress;
    const partitions = await bus.partitions(rebuild.topic.name);
    if (partitions === 0) throw fault("bus_unavailable", "the bus knows no partition of the topic");
    const finished = await db.transaction((tx) => finish(tx, { id, rebuild, partitions }));
    if (finished) log.info("rebuild written", { topic: rebuild.topic.name });
    return "over";
  }

  return {
    name: "rebuild-topics",
    everyMs,
    async run(signal) {
      while (!signal.aborted) {
        const rows = await findUnfinished(db);
        const steps: Progress[] = [];
        for (const row of rows) if (!signal.aborted) steps.push(await advance(row));
        if (steps.every((progress) => progress === "over")) return;
        if (!steps.includes("on")) await pause(restMs, signal);
      }
    },
  };
}

const columns = sql`rebuild.id, rebuild.topic, rebuild.line, rebuild.begun_at, rebuild.place, rebuild.finished_at`;

/** Of one topic only the oldest: those behind it begin when it has ended. */
async function findUnfinished(db: Db): Promise<Row[]> {
  return db.many<Row>(sql`
    select distinct on (rebuild.topic) ${columns}
      from rebuild
     where rebuild.finished_at is null
     order by rebuild.topic, rebuild.requested_at, rebuild.id`);
}

/** Takes the turn until the transaction ends, so that one process at a time goes on; undefined where another has it. */
async function takeTurn(tx: Tx, id: string): Promise<Row | undefined> {
  if (!(await tryLock(tx, rebuildLock(id)))) return undefined;
  return tx.maybeOne<Row>(sql`select ${columns} from rebuild where rebuild.id = ${id}`);
}

async function hasRoom(db: Db, topic: string): Promise<boolean> {
  const { waiting } = await db.one<{ waiting: number }>(sql`
    select count(*) as waiting
      from (select from outbox where outbox.topic = ${topic} limit ${longestQueue}) as waiting`);
  return waiting < longestQueue;
}

async function begin(tx: Tx, { id, line }: { id: string; line: number }): Promise<void> {
  // The time of now: what is written behind the line belongs to transactions that begin later.
  await tx.run(sql`update rebuild set line = ${line}, begun_at = clock_timestamp() where rebuild.id = ${id}`);
}

async function noteExpected(db: Db, { id, expected }: { id: string; expected: number }): Promise<void> {
  await db.run(sql`update rebuild set expected = ${expected} where rebuild.id = ${id}`);
}

async function finish(
  tx: Tx,
  { id, rebuild, partitions }: { id: string; rebuild: Rebuild; partitions: number },
): Promise<boolean> {
  const row = await takeTurn(tx, id);
  if (row === undefined || row.line === null || row.begun_at === null || row.finished_at !== null) return false;
  const isOfEntities = rebuild.topic.retention.kind === "compacted";
  const headers = {
    [header.sweepBelow]: String(row.line),
    [header.sweepPartitions]: String(partitions),
    [header.sweepSince]: String(row.begun_at),
  };
  // It has a key of its own and a value, so that compaction keeps the last one: it cleans copies that begin later, too.
  await tx.run(sql`
    insert into outbox (topic, key, partition, payload, marker, headers)
    select ${row.topic}, 'rebuild', place.partition, ''::bytea, ${id}::uuid,
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
