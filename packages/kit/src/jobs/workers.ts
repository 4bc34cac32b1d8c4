import { type Alarm, createAlarm } from "../alarm.ts";
import { backoff } from "../backoff.ts";
import type { Clock } from "../clock.ts";
import { runInContext } from "../context.ts";
import { describeCause, withoutNul } from "../describe-cause.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { pause } from "../pause.ts";
import type { Db, Tx } from "../pg/database.ts";
import { listenForNotices } from "../pg/listen.ts";
import { keepSample } from "../sample.ts";
import { runJobs } from "./interval.ts";
import type { Work } from "./work.ts";
import * as reads from "./work-reads.ts";
import * as table from "./work-table.ts";

/** A claimed piece of work. */
export interface WorkInHand<P> {
  readonly id: string;
  readonly owner: string;
  readonly payload: P;
  /** The number of this try, from 1. */
  readonly tries: number;
  /** Aborts when the lease is lost, and when the process stops. A failure after that does not count as a try. */
  readonly signal: AbortSignal;
  /** Stores something before the end, in a transaction that fails when the lease is lost. */
  step<T>(store: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Undoes what is outside of the database, for instance a file, if the lease turns out to be lost: by then what the work needs may
   * have been erased.
   */
  ifLost(undo: () => Promise<unknown>): void;
  /** Stores the progress, for callers. */
  progress(at: { readonly done: number; readonly total: number }): Promise<void>;
}

/** Stores the outcome of work and returns its result. It runs in the transaction that ends the work: once, or not at all. */
export type Effect<R> = (tx: Tx) => Promise<R>;

/** Does one kind of work. */
export interface Worker {
  readonly work: Pick<Work<never, unknown>, "kind" | "leaseMs" | "atOnce" | "atOnceEach">;
  /** Does a claimed piece of work and ends it. */
  perform(claimed: table.ClaimedRow, hand: { db: Db; claim: table.Claim; signal: AbortSignal }): Promise<void>;
}

/** Declares a worker: `run` does the long part, outside of any transaction, and returns the effect. */
export function workOn<P, R, D = unknown>(
  work: Work<P, R>,
  run: (job: WorkInHand<P>, deps: D) => Promise<Effect<R>>,
): (deps: D) => Worker {
  return (deps) => ({
    work,
    async perform(claimed, { db, claim, signal }) {
      const { id, owner, tries } = claimed;
      const step = <T>(store: (tx: Tx) => Promise<T>) =>
        db.transaction(async (tx) => {
          if (!(await table.hold(tx, claim))) throw new LeaseLost();
          return store(tx);
        });
      const progress = async (at: { readonly done: number; readonly total: number }) => {
        if (!(await table.noteProgress(db, claim, at))) throw new LeaseLost();
      };
      const payload = work.payload.decode(claimed.payload);
      const undos: (() => Promise<unknown>)[] = [];
      const ifLost = (undo: () => Promise<unknown>) => void undos.push(undo);
      try {
        const effect = await run({ id, owner, payload, tries, signal, step, ifLost, progress }, deps);
        await step(async (tx) => table.succeed(tx, claim, work.result.encode(await effect(tx)).finish()));
      } catch (error) {
        if (error instanceof LeaseLost) for (const undo of undos) await undo();
        throw error;
      }
    },
  });
}

/** Thrown by work that no further try can do. Clients see the message. */
export class WorkFailed extends Error {
  override readonly name = "WorkFailed";
}

class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

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

const measuredMs = 5000;

/** Higher numbers are of no use. */
const mostCounted = 10_000;

/**
 * Does the work of a service in this process, beside any number of other processes.
 *
 * Each kind has a loop of its own:
 *
 * | mode | what it does | leaves for |
 * |---|---|---|
 * | claiming | claims as much as it may run | full, when it got that much; idle, when it got less; resting, when it failed |
 * | full | nothing: it runs as much as it may | claiming, when a piece of work has ended |
 * | idle | waits for a notice, the end of a piece of work, or the next poll | claiming |
 * | resting | waits, twice as long after each failure | claiming |
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
  const meter = measureWork(options);
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
        const performing = perform(worker, row, claim).finally(() => {
          mine.delete(claim);
          underWay.delete(claim);
          alarm.ring();
        });
        underWay.set(claim, performing);
      }
      if (rows.length < most || most === 0) await alarm.pause(pollMs, { lightly: true });
    }
  }

  async function perform(worker: Worker, row: table.ClaimedRow, claim: table.Claim): Promise<void> {
    const { leaseMs } = worker.work;
    const about = { work: claim.kind, id: claim.id, tries: row.tries };
    const ended = new AbortController();
    const lost = new AbortController();
    const beating = keepLease(claim, { leaseMs, signal: ended.signal, lose: () => lost.abort() });
    const { traceparent } = row;
    try {
      signal.throwIfAborted();
      await runInContext(traceparent === null ? {} : { traceparent }, () =>
        worker.perform(row, { db, claim, signal: AbortSignal.any([signal, lost.signal]) }),
      );
      meter.ended(claim.kind, "succeeded");
    } catch (error) {
      try {
        await noteFailure(error);
      } catch (another) {
        log.warn("a try failed and could not be noted; the lease ends by itself", { ...about, error: another });
      }
    } finally {
      ended.abort();
      await beating;
    }

    async function noteFailure(error: unknown): Promise<void> {
      if (error instanceof WorkFailed) {
        if (await table.fail(db, claim, withoutNul(error.message))) meter.ended(claim.kind, "failed");
        log.info("work has failed", { ...about, cause: error.message });
      } else if (error instanceof LeaseLost || lost.signal.aborted) {
        log.warn("a lease was lost: the work is another worker's", about);
      } else if (signal.aborted) {
        await table.giveBack(db, claim);
      } else {
        const next = await table.failTry(db, claim, describeCause(error));
        if (next?.state === "failed") {
          meter.ended(claim.kind, "failed");
          log.error("work has failed: its last try did", { ...about, error });
        } else log.warn("a try failed; the work is tried again", { ...about, error });
      }
    }
  }

  /** Extends a lease three times within its length. */
  async function keepLease(
    claim: table.Claim,
    { leaseMs, signal: ended, lose }: { leaseMs: number; signal: AbortSignal; lose: () => void },
  ): Promise<void> {
    for (;;) {
      await pause(leaseMs / 3, ended);
      if (ended.aborted) return;
      try {
        if (!(await table.beat(db, claim, { leaseMs })) && !ended.aborted) return lose();
      } catch (error) {
        log.warn("a lease could not be extended", { work: claim.kind, id: claim.id, error });
      }
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

/** A kind of work as the value of a label: `render_few`. */
function label(kind: string): string {
  return kind.replaceAll(/[^a-z0-9]+/g, "_");
}

/** Declares the metrics of a service's work. */
function measureWork({ db, workers, clock, metrics, service }: WorkersOptions) {
  const kinds = workers.map(({ work }) => work.kind);
  const sample = keepSample<ReadonlyMap<string, reads.Measured>>(clock);
  const counter = metrics.counter("work_ended_total", "Work that has ended, by how.", ["service", "work", "state"]);
  const ended = (kind: string, state: "succeeded" | "failed", amount = 1) =>
    counter.add({ service, work: label(kind), state }, amount);
  // Prometheus sees no increase in a series that begins above zero: the first failure would raise no alert.
  for (const kind of kinds) for (const state of ["succeeded", "failed"] as const) ended(kind, state, 0);
  const declare = (name: string, help: string, read: (measured: reads.Measured) => number) => {
    for (const kind of kinds) {
      const collect = () => {
        const measured = sample.read().get(kind);
        return measured === undefined ? 0 : read(measured);
      };
      metrics.gauge(name, help, collect, { service, work: label(kind) });
    }
  };
  declare("work_waiting", `Work that waits; ${mostCounted} stands for any more.`, ({ waiting }) => waiting);
  declare("work_running", "Work that is being done.", ({ running }) => running);
  declare("work_waiting_seconds", "How long the oldest work has been waiting.", ({ seconds }) => seconds);
  return {
    ended,
    job: {
      name: "measure-work",
      everyMs: measuredMs,
      async run() {
        const measured = await reads.measure(db, { kinds, mostCounted });
        sample.keep(new Map(measured.map((each) => [each.kind, each])));
      },
    },
  };
}
