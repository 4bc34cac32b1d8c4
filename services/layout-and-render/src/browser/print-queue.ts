import type { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import { Recent } from "@tessera/kit/waiting/recent";
import { Turns } from "@tessera/kit/waiting/turns";
import { fault } from "../faults.ts";
import { isTooSlow } from "./browser-run.ts";
import { type BrowserLimits, Browsers } from "./browsers.ts";
import type { Chromium } from "./chromium.ts";
import type { Printed, PrintJob } from "./print-job.ts";

export interface PrintLimits extends BrowserLimits {
  /** The concurrent jobs of one party, each in a tab of its own, and as many short jobs beside them. */
  readonly tabs: number;
  /** The limits of waiting jobs: per party, and in all. */
  readonly waitingEach: number;
  readonly waitingInAll: number;
  /** A party whose longer job exceeded this has one tab for such jobs for a while, so that it starves no others. */
  readonly slowMs: number;
  /** How long a job waits for its turn. */
  readonly waitMs: number;
}

export const usualLimits: PrintLimits = {
  tabs: 2,
  waitingEach: 200,
  waitingInAll: 2000,
  waitMs: 60_000,
  slowMs: 5000,
  printMs: 30_000,
  pages: 50_000,
  memory: 500 * 1024 * 1024,
  idleMs: 300_000,
};

export interface PrintOptions {
  /** The organizer; parties share the browser fairly. */
  readonly party: string;
  /** Short jobs have tabs of their own, and do not wait for longer ones. */
  readonly isShort?: boolean | undefined;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** Prints jobs of many parties in fair turns. */
export interface PrintQueue {
  readonly tabs: number;
  print(job: PrintJob, options: PrintOptions): Promise<Printed>;
  /** Starts the browser ahead of the first job; throws if none can be started. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

/** How long a slow party is remembered. */
const rememberedMs = 60_000;

/** A job is retried once when its browser is lost: another job may have been the cause. */
const mostLosses = 2;

/** Opens a queue; the browser is started by the first job. */
export function openPrintQueue({
  start,
  log,
  limits = usualLimits,
}: {
  readonly start: () => Promise<Chromium>;
  readonly log: Log;
  readonly limits?: PrintLimits;
}): PrintQueue {
  const browsers = new Browsers({ start, log, limits });
  let waiting = 0;
  const full = (): Fault =>
    fault("print_queue_full", "Too many tickets are waiting to be printed. Try again later.", { retryAfterMs: 5000 });
  const shared = { waitMs: limits.waitMs, queue: limits.waitingEach, busy: full };
  // One extra tab for long jobs: however slow one party is, another finds a tab.
  const long = new Turns({ ...shared, total: limits.tabs + 1, each: limits.tabs });
  const short = new Turns({ ...shared, total: Math.max(2, limits.tabs), each: Math.max(1, limits.tabs - 1) });

  const slow = new Recent({ forMs: rememberedMs });

  async function printLong(job: PrintJob, party: string): Promise<Printed> {
    const begun = performance.now();
    try {
      return await printWithRetry(job);
    } finally {
      if (performance.now() - begun > limits.slowMs) slow.note(party);
    }
  }

  async function printWithRetry(job: PrintJob): Promise<Printed> {
    for (let losses = 0; ; ) {
      const run = await browsers.current();
      try {
        const printed = await run.print(job);
        browsers.notePrinted(run);
        return printed;
      } catch (cause) {
        if (isTooSlow(cause)) throw cause;
        // Other jobs of a browser that was killed for a timeout are not to blame.
        if (!run.wasStopped) losses += 1;
        if (browsers.isClosed || losses >= mostLosses) {
          throw fault("browser_lost", "The browser ended while it printed. Try again later.", {
            cause,
            retryAfterMs: 5000,
          });
        }
        log.warn("a print was lost with its browser; it is printed again", { pages: job.pages });
      }
    }
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
        if (isShort)
          return await short.run({ party, amount: 1, signal }, () => {
            begin();
            return printWithRetry(job);
          });
        return await long.run({ party, amount: slow.has(party) ? limits.tabs : 1, signal }, () => {
          begin();
          return printLong(job, party);
        });
      } finally {
        begin();
        browsers.awaitIdleness();
      }
    },
    async warmUp() {
      await (await browsers.current()).warmUp();
    },
    close: () => browsers.close(),
  };
}
