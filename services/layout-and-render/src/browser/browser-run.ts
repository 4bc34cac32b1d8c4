import type { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { fault } from "../faults.ts";
import type { Chromium, Tab } from "./chromium.ts";
import type { Printed, PrintJob } from "./print-job.ts";

export interface RunLimits {
  /** How long a job may take. */
  readonly printMs: number;
  /** After so many pages, or when it has so much memory of its own, a browser is replaced. */
  readonly pages: number;
  readonly memory: number;
}

/** A browser with its tabs, from its start to its end. */
export class BrowserRun {
  readonly #chromium: Chromium;
  readonly #limits: RunLimits;
  readonly #log: Log;
  readonly #free: Tab[] = [];
  #busy = 0;
  #pages = 0;
  #isRetired = false;
  #hasEnded = false;
  #wasStopped = false;
  /** Called when it ends: some calls to an ended browser wait for long. */
  readonly #losers = new Set<(error: Error) => void>();

  constructor(chromium: Chromium, { limits, log }: { readonly limits: RunLimits; readonly log: Log }) {
    this.#chromium = chromium;
    this.#limits = limits;
    this.#log = log;
    void chromium.ended.then(() => {
      this.#hasEnded = true;
      this.#isRetired = true;
      for (const lose of this.#losers) lose(new Error("the browser has ended"));
    });
  }

  /** No further job gets it. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** A job has taken too long, and the browser was ended for it. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** Opens a tab ahead of the first job. */
  async warmUp(): Promise<void> {
    if (this.#free.length === 0) this.#free.push(await this.#chromium.openTab());
  }

  /** Prints a job in a tab of its own; fails if the browser ends meanwhile. */
  async print(job: PrintJob): Promise<Printed> {
    this.#busy += 1;
    try {
      const printed = await waitAtMost(this.#limits.printMs, this.#unlessEnded(this.#printInTab(job)), tooSlow);
      this.#pages += job.pages;
      if (this.#pages > this.#limits.pages) this.retire();
      return printed;
    } catch (error) {
      // The tab is in an unknown state, and with it perhaps the browser.
      this.retire();
      if (isTooSlow(error)) {
        this.#log.warn("a print took too long; the browser is started again", { pages: job.pages });
        this.#wasStopped = true;
        await this.kill();
      }
      throw error;
    } finally {
      this.#busy -= 1;
      if (this.#isRetired) this.retire();
    }
  }

  /** Gives it no further job, and ends it after those it has. */
  retire(): void {
    this.#isRetired = true;
    if (this.#busy === 0 && !this.#hasEnded) void this.kill();
  }

  retireIfIdle(): void {
    if (this.#busy === 0) this.retire();
  }

  async retireIfLarge(): Promise<void> {
    if ((await this.#chromium.memory()) > this.#limits.memory) this.retire();
  }

  kill(): Promise<void> {
    return this.#chromium.kill();
  }

  async #printInTab(job: PrintJob): Promise<Printed> {
    const tab = this.#free.pop() ?? (await this.#chromium.openTab());
    const printed = await tab.print(job);
    this.#free.push(tab);
    return printed;
  }

  #unlessEnded<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#losers.add(reject);
      work.then(resolve, reject).finally(() => this.#losers.delete(reject));
      if (this.#hasEnded) reject(new Error("the browser has ended"));
    });
  }
}

function tooSlow(): Fault {
  return fault("print_too_slow", "A page took too long to be printed. Make its layout simpler.");
}

export function isTooSlow(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "print_too_slow";
}
