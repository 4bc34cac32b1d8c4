import type { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { fault } from "../faults.ts";
import type { Chromium, Tab } from "./chromium.ts";
import type { Printed, PrintJob } from "./print-job.ts";

export interface RunLimits {
  /** The timeout of a job. */
  readonly printMs: number;
  /** A browser is replaced after this many pages, or with this much private memory. */
  readonly pages: number;
  readonly memory: number;
}

/** A browser with its tabs, from start to end. */
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
  /** Called when the browser ends, because calls to it may then hang. */
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

  /** Whether the browser gets no further job. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Whether the browser was killed because a job timed out. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  async warmUp(): Promise<void> {
    if (this.#free.length === 0) this.#free.push(await this.#chromium.openTab());
  }

  /** Prints a job in a tab of its own; fails if the browser ends. */
  async print(job: PrintJob): Promise<Printed> {
    this.#busy += 1;
    try {
      const printed = await waitAtMost(this.#limits.printMs, this.#unlessEnded(this.#printInTab(job)), tooSlow);
      this.#pages += job.pages;
      if (this.#pages > this.#limits.pages) this.retire();
      return printed;
    } catch (error) {
      // The state of the tab is unknown, and perhaps that of the browser.
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

  /** Ends the browser after its current jobs. */
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
