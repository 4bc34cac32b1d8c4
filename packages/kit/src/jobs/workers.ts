import type { Clock } from "../clock.ts";
import type { Db } from "../pg/database.ts";
import { listenForNotices } from "../pg/listen.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type Alarm, createAlarm } from "../waiting/alarm.ts";
import { backoff } from "../waiting/backoff.ts";
import { pause } from "../waiting/pause.ts";
import { runJobs } from "./interval.ts";
import { measureWork } from "./measure-work.ts";
import { performWork } from "./perform-work.ts";
import type { Worker } from "./work-on.ts";
import * as table from "./work-table.ts";

export interface RunningWorkers {
  /** Claims no more, aborts running work, and gives back what does not end within five seconds. */
  stop(): Promise<void>;
}

export interface WorkersOptions {
  readonly db: Db;
  readonly workers: readonly Worker[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly service: string;
  readonly pollMs?: number;
}

/** How late a worker begins work when no notice wakes it. */
const defaultPollMs = 1000;

const pauses = { firstMs: 200, longestMs: 5000 };

/** A running step is a transaction. Work that takes longer is left to the next process. */
const longestStopMs = 5000;

/**
 * Does the work of a service in this process, beside any number of other processes.
 *
 * Each kind has a loop of its own:
 *
 * | mode | what it does | leaves for |
 * |---|---|---|
 * | claiming | claims as much as it may run | full, when it got that much; idle, when it got less; backing off, when it failed |
 * | full | nothing: it runs as much as it may | claiming, when a piece of work has ended |
 * | idle | waits for a notice, the end of a piece of work, or the next poll | claiming |
 * | backing off | waits, twice as long after each failure | claiming |
 * | stopped | – | – |
 *
 * One connection listens for the notices of all kinds. Once per poll, rows at the end of their time are moved.
 */
export function startWorkers(options: WorkersOptions): RunningWorkers {
  const { db, workers, log, pollMs = defaultPollMs } = options;
  if (workers.length === 0) return { stop: async () => {} };
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Map<table.Claim, Promise<void>>();
  const meter = measureWork({ ...options, kinds: workers.map(({ work }) => work.kind) });
  const loops = workers.map((worker) => {
    const alarm = createAlarm();
    return { alarm, done: claimUntilStopped(worker, alarm) };
  });
  const wakeAll = () => {
    for (const { alarm } of loops) alarm.ring();
  };
  const unheard = (error: unknown) => log.warn("notices of work are not heard; it begins at the next poll", { error });
  const listening = listenForNotices(db, { channel: table.channelOf(db.schema), signal }, { heard: wakeAll, unheard });
  const upkeep = runJobs(
    [
      {
        name: "move-due-work",
        everyMs: pollMs,
        run: async () => {
          for (const kind of await table.moveDue(db)) meter.ended(kind, "failed");
        },
      },
      meter.job,
    ],
    log,
  );

  async function claimUntilStopped(worker: Worker, alarm: Alarm): Promise<void> {
    const { work } = worker;
    const { atOnceEach = work.atOnce } = work;
    const mine = new Map<table.Claim, string>();
    for (let failed = 0; !alarm.stopped; ) {
      const room = work.atOnce - mine.size;
      // One by one, where each decides which owners have their share.
      const most = atOnceEach < work.atOnce ? Math.min(1, room) : room;
      let rows: table.ClaimedRow[] = [];
      try {
        if (most > 0) rows = await table.claim(db, { ...work, most, except: ownersWith(atOnceEach, mine) });
        failed = 0;
      } catch (error) {
        if (alarm.stopped) return;
        failed += 1;
        log.warn("work is waiting: none could be claimed", { work: work.kind, error });
        await alarm.pause(backoff(pauses, failed));
        continue;
      }
      for (const row of rows) {
        const claim = { kind: work.kind, id: row.id, token: row.token };
        mine.set(claim, row.owner);
        const performing = performWork(worker, { row, claim }, { db, log, meter, signal }).finally(() => {
          mine.delete(claim);
          underWay.delete(claim);
          alarm.ring();
        });
        underWay.set(claim, performing);
      }
      if (rows.length < most || most === 0) await alarm.pause(pollMs, { lightly: true });
    }
  }

  return {
    async stop() {
      for (const { alarm } of loops) alarm.stop();
      stopping.abort();
      await Promise.all([...loops.map(({ done }) => done), listening, upkeep.stop()]);
      const left = new AbortController();
      await Promise.race([Promise.all(underWay.values()), pause(longestStopMs, left.signal)]);
      left.abort();
      for (const claim of underWay.keys()) {
        await table.giveBack(db, claim).catch((error: unknown) => {
          log.warn("work could not be given back; its lease ends by itself", { work: claim.kind, id: claim.id, error });
        });
      }
    },
  };
}

function ownersWith(most: number, claims: ReadonlyMap<table.Claim, string>): string[] {
  const owned = Map.groupBy(claims.values(), (owner) => owner);
  return [...owned].filter(([, each]) => each.length >= most).map(([owner]) => owner);
}
