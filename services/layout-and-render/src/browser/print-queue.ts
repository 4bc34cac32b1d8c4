import type { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/log";
import { Turns } from "@tessera/kit/turns";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { fault } from "../faults.ts";
import type { Chromium, Tab } from "./chromium.ts";
import type { Printed, PrintJob } from "./print-job.ts";

export interface PrintLimits {
  /** How many jobs are printed at a time, each in a tab of its own, and as many short ones beside them. */
  readonly tabs: number;
  /** How many jobs of one party may wait, and how many in all. */
  readonly waitingEach: number;
  readonly waitingInAll: number;
  /** How long a job waits for its turn. */
  readonly waitMs: number;
  /** How long a job may take. */
  readonly printMs: number;
  /** After so many pages, or when it has so much memory of its own, a browser is replaced. */
  readonly pages: number;
  readonly memory: number;
  /** A browser without work ends after this time. */
  readonly idleMs: number;
}

export const usualLimits: PrintLimits = {
  tabs: 2,
  waitingEach: 200,
  waitingInAll: 2000,
  waitMs: 60_000,
  printMs: 30_000,
  pages: 50_000,
  memory: 500 * 1024 * 1024,
  idleMs: 300_000,
};

export interface PrintOptions {
  /** Who shares the browser with others: an organizer. */
  readonly party: string;
  /** Whether it is short: such jobs have tabs of their own, and do not wait for longer ones. */
  readonly isShort?: boolean | undefined;
  /** Gives up waiting when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Prints jobs of many parties, which take turns. */
export interface PrintQueue {
  readonly tabs: number;
  print(job: PrintJob, options: PrintOptions): Promise<Printed>;
  /** Starts the browser ahead of the first job; throws if none can be started. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

/** A browser with its tabs, from its start to its end. */
interface Run {
  readonly chromium: Chromium;
  readonly free: Tab[];
  busy: number;
  pages: number;
  /** No further job gets it. */
  isRetired: boolean;
  hasEnded: boolean;
  /** Called when it ends: some calls to an ended browser wait for long. */
  readonly losers: Set<(error: Error) => void>;
  /** Another job has taken too long, and the browser was ended for it. */
  wasStopped: boolean;
}

/** A job during which the browser was lost is printed once more: another job may have been the cause. */
const mostLosses = 2;

/** Memory is looked at after so many jobs. */
const jobsPerLook = 16;

/** Opens a queue before a browser, which is started when the first job comes. */
export function openPrintQueue({
  start,
  log,
  limits = usualLimits,
}: {
  readonly start: () => Promise<Chromium>;
  readonly log: Log;
  readonly limits?: PrintLimits;
}): PrintQueue {
  let starting: Promise<Run> | undefined;
  const runs = new Set<Run>();
  let waiting = 0;
  let jobs = 0;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  const full = (): Fault =>
    fault("print_queue_full", "Too many tickets are waiting to be printed. Try again later.", { retryAfterMs: 5000 });
  const shared = { waitMs: limits.waitMs, queue: limits.waitingEach, busy: full };
  const long = new Turns({ ...shared, total: limits.tabs, each: limits.tabs });
  // However slow the pages of one party are, another finds a tab.
  const short = new Turns({ ...shared, total: Math.max(2, limits.tabs), each: Math.max(1, limits.tabs - 1) });

  async function startRun(): Promise<Run> {
    const chromium = await start();
    const run: Run = {
      chromium,
      free: [],
      losers: new Set(),
      busy: 0,
      pages: 0,
      isRetired: false,
      hasEnded: false,
      wasStopped: false,
    };
    runs.add(run);
    void chromium.ended.then(() => {
      run.hasEnded = true;
      run.isRetired = true;
      runs.delete(run);
      for (const lose of run.losers) lose(new Error("the browser has ended"));
    });
    if (isClosed) await chromium.kill();
    return run;
  }

  async function currentRun(): Promise<Run> {
    for (;;) {
      if (isClosed) throw fault("browser_lost", "This process is stopping. Try again later.", { retryAfterMs: 1000 });
      starting ??= startRun();
      const attempt = starting;
      try {
        const run = await attempt;
        if (!run.isRetired) return run;
      } catch (error) {
        if (starting === attempt) starting = undefined;
        throw error;
      }
      if (starting === attempt) starting = undefined;
    }
  }

  function retire(run: Run): void {
    run.isRetired = true;
    if (run.busy === 0 && !run.hasEnded) void run.chromium.kill();
  }

  async function lookAtMemory(run: Run): Promise<void> {
    const memory = await run.chromium.memory();
    if (memory > limits.memory) retire(run);
  }

  async function printOnce(job: PrintJob): Promise<Printed | { readonly lost: Run; readonly cause: unknown }> {
    const run = await currentRun();
    run.busy += 1;
    try {
      const printed = await waitAtMost(limits.printMs, unlessLost(run, printIn(run, job)), tooSlow);
      run.pages += job.pages;
      jobs += 1;
      if (run.pages > limits.pages) retire(run);
      else if (jobs % jobsPerLook === 0) void lookAtMemory(run).catch(() => undefined);
      return printed;
    } catch (cause) {
      if (isTooSlow(cause)) {
        log.warn("a print took too long; the browser is started again", { pages: job.pages });
        run.wasStopped = true;
        retire(run);
        await run.chromium.kill();
        throw cause;
      }
      // The tab is in an unknown state, and with it perhaps the browser.
      retire(run);
      return { lost: run, cause };
    } finally {
      run.busy -= 1;
      if (run.isRetired) retire(run);
    }
  }

  async function printWithRetry(job: PrintJob): Promise<Printed> {
    let losses = 0;
    for (;;) {
      const result = await printOnce(job);
      if ("pdf" in result) return result;
      // Jobs beside one that took too long did nothing wrong.
      if (!result.lost.wasStopped) losses += 1;
      if (isClosed || losses >= mostLosses) {
        throw fault("browser_lost", "The browser ended while it printed. Try again later.", {
          cause: result.cause,
          retryAfterMs: 5000,
        });
      }
      log.warn("a print was lost with its browser; it is printed again", { pages: job.pages });
    }
  }

  function awaitIdleness(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      for (const run of runs) if (run.busy === 0) retire(run);
    }, limits.idleMs);
    idle.unref();
  }

  return {
    tabs: limits.tabs,
    async print(job, { party, signal, isShort = false }) {
      if (waiting >= limits.waitingInAll) throw full();
      waiting += 1;
      let isWaiting = true;
      const begin = () => {
        if (isWaiting) waiting -= 1;
        isWaiting = false;
      };
      try {
        return await (isShort ? short : long).run({ party, amount: 1, signal }, () => {
          begin();
          return printWithRetry(job);
        });
      } finally {
        begin();
        awaitIdleness();
      }
    },
    async warmUp() {
      const run = await currentRun();
      if (run.free.length === 0) run.free.push(await run.chromium.openTab());
    },
    async close() {
      isClosed = true;
      clearTimeout(idle);
      await Promise.all(Array.from(runs, ({ chromium }) => chromium.kill()));
    },
  };
}

async function printIn(run: Run, job: PrintJob): Promise<Printed> {
  const tab = run.free.pop() ?? (await run.chromium.openTab());
  const printed = await tab.print(job);
  run.free.push(tab);
  return printed;
}

/** Waits for work, or for the end of the browser. */
function unlessLost<T>(run: Run, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => run.losers.delete(reject);
    run.losers.add(reject);
    work.then(resolve, reject).finally(settle);
    if (run.hasEnded) reject(new Error("the browser has ended"));
  });
}

function tooSlow(): Fault {
  return fault("print_too_slow", "A page took too long to be printed. Make its layout simpler.");
}

function isTooSlow(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "print_too_slow";
}
