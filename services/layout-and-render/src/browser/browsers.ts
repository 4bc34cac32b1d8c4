import type { Log } from "@tessera/kit/telemetry/log";
import { fault } from "../faults.ts";
import { BrowserRun, type RunLimits } from "./browser-run.ts";
import type { Chromium } from "./chromium.ts";

export interface BrowserLimits extends RunLimits {
  /** An idle browser ends after this time. */
  readonly idleMs: number;
}

export interface BrowsersOptions {
  readonly start: () => Promise<Chromium>;
  readonly log: Log;
  readonly limits: BrowserLimits;
}

/** Memory is measured after this many jobs. */
const jobsPerLook = 16;

/** The browser for the next job, started on demand, and retired browsers that end with their current jobs. */
export class Browsers {
  readonly #options: BrowsersOptions;
  #starting: Promise<BrowserRun> | undefined;
  readonly #runs = new Set<BrowserRun>();
  #jobs = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BrowsersOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async current(): Promise<BrowserRun> {
    for (;;) {
      if (this.#isClosed)
        throw fault("browser_lost", "This process is stopping. Try again later.", { retryAfterMs: 1000 });
      this.#starting ??= this.#start();
      const attempt = this.#starting;
      try {
        const run = await attempt;
        if (!run.isRetired) return run;
      } catch (error) {
        this.#forget(attempt);
        throw error;
      }
      this.#forget(attempt);
    }
  }

  #forget(attempt: Promise<BrowserRun>): void {
    if (this.#starting === attempt) this.#starting = undefined;
  }

  notePrinted(run: BrowserRun): void {
    this.#jobs += 1;
    if (this.#jobs % jobsPerLook === 0 && !run.isRetired) void run.retireIfLarge().catch(() => undefined);
  }

  /** Ends idle browsers after a while, unless called again before (debounce). */
  awaitIdleness(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      for (const run of this.#runs) run.retireIfIdle();
    }, this.#options.limits.idleMs);
    this.#idle.unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await Promise.all(Array.from(this.#runs, (run) => run.kill()));
  }

  async #start(): Promise<BrowserRun> {
    const chromium = await this.#options.start();
    const run = new BrowserRun(chromium, this.#options);
    this.#runs.add(run);
    const started = this.#starting;
    void chromium.ended.then(() => {
      this.#runs.delete(run);
      // A reference to the ended browser would keep what its tabs have loaded.
      if (started !== undefined) this.#forget(started);
    });
    if (this.#isClosed) await run.kill();
    return run;
  }
}
