import type { Log } from "@tessera/kit/telemetry/log";
import { fault } from "../faults.ts";
import { BrowserRun, type RunLimits } from "./browser-run.ts";
import type { Chromium } from "./chromium.ts";

export interface BrowserLimits extends RunLimits {
  /** A browser without work ends after this time. */
  readonly idleMs: number;
}

export interface BrowsersOptions {
  readonly start: () => Promise<Chromium>;
  readonly log: Log;
  readonly limits: BrowserLimits;
}

/** Memory is looked at after so many jobs. */
const jobsPerLook = 16;

/** The browser that gets the next job, and those that only end what they have begun. One is started when a job needs it. */
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

  /** Notes that a browser has printed a job. */
  notePrinted(run: BrowserRun): void {
    this.#jobs += 1;
    if (this.#jobs % jobsPerLook === 0 && !run.isRetired) void run.retireIfLarge().catch(() => undefined);
  }

  /** Ends what has no work, unless this is called again before. */
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
      // Its tabs hold what they have loaded.
      if (started !== undefined) this.#forget(started);
    });
    if (this.#isClosed) await run.kill();
    return run;
  }
}
