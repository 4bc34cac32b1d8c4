import { Fault } from "./fault.ts";
import { fault } from "./faults.ts";
import type { Log } from "./log.ts";
import { waitAtMost } from "./wait-at-most.ts";

/** Where a process stands in its life. */
export type Stage = "starting" | "serving" | "draining";

export interface Readiness {
  /** Whether to send requests here. */
  readonly ready: boolean;
  readonly stage: Stage;
  /** Each dependency with "ok" or with what keeps it away, in words that anybody may read. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Whether a process can take requests. Whether it lives is another question,
 * which its event loop answers by answering: restarting a process mends no
 * database, so a dependency must never count as life.
 */
export interface Health {
  /** Declares what this process cannot serve without. The check throws when it is away; its signal aborts when the time for it is over. */
  dependency(name: string, check: (signal: AbortSignal) => Promise<void>): void;
  /** Asks every dependency; never throws. */
  ready(): Promise<Readiness>;
  /** Notes that start-up is complete. */
  startedUp(): void;
  /** Notes that this process is about to stop: from now on it is not ready. */
  draining(): void;
  readonly stage: Stage;
}

/** Less than a probe waits, so that the answer names the dependency instead of being a timeout itself. */
const longestCheckMs = 2000;

/** Several probes and people may ask at once; a dependency that was well a second ago is not asked again. Bad news is never kept, so recovery shows at once. */
const goodForMs = 1000;

/** A check that ignores its signal and never ends is given up after this long, and a new one may run. */
const abandonedAfterMs = 30_000;

/** Makes the health of a process. Changes for the worse and for the better go to the log once, not at every probe. */
export function createHealth({ log }: { log?: Log } = {}): Health {
  const dependencies = new Map<string, () => Promise<string>>();
  let stage: Stage = "starting";
  return {
    dependency(name, check) {
      if (dependencies.has(name)) throw new Error(`the dependency ${name} is declared twice`);
      dependencies.set(name, watch(name, check, log));
    },
    async ready() {
      // Asked only to be refused, dependencies that are closing already would look like an outage.
      const asked = stage === "draining" ? [] : await askAll(dependencies);
      const well = asked.every(([, answer]) => answer === ok);
      // Read again: the process may have begun to drain while its dependencies answered.
      return { ready: well && stage === "serving", stage, dependencies: Object.fromEntries(asked) };
    },
    startedUp() {
      if (stage === "starting") stage = "serving";
    },
    draining() {
      stage = "draining";
    },
    get stage() {
      return stage;
    },
  };
}

const ok = "ok";

function askAll(dependencies: ReadonlyMap<string, () => Promise<string>>): Promise<[string, string][]> {
  return Promise.all(Array.from(dependencies, async ([name, ask]): Promise<[string, string]> => [name, await ask()]));
}

/** One check under way, and what it will have answered when its time is over. */
interface Run {
  readonly since: number;
  readonly answer: Promise<string>;
}

/** Makes the question to one dependency. Questions asked at the same time share one check. */
function watch(
  name: string,
  check: (signal: AbortSignal) => Promise<void>,
  log: Log | undefined,
): () => Promise<string> {
  let lastGood = Number.NEGATIVE_INFINITY;
  let running: Run | undefined;
  let lost = false;

  const judge = async (work: Promise<void>, abort: AbortController): Promise<string> => {
    try {
      await waitAtMost(longestCheckMs, work, tooSlow);
    } catch (error) {
      abort.abort(error);
      if (!lost) log?.warn("dependency lost", { dependency: name, error });
      lost = true;
      return explain(error);
    }
    if (lost) log?.info("dependency back", { dependency: name });
    lost = false;
    lastGood = performance.now();
    return ok;
  };

  const start = (since: number): Run => {
    const abort = new AbortController();
    const work = (async () => check(abort.signal))();
    const run = { since, answer: judge(work, abort) };
    // A check that outlives its time keeps its place: a hanging database must not gather a new check with every probe.
    const end = () => {
      if (running === run) running = undefined;
    };
    work.then(end, end);
    return run;
  };

  return () => {
    const now = performance.now();
    if (now - lastGood < goodForMs) return Promise.resolve(ok);
    if (running === undefined || now - running.since >= abandonedAfterMs) running = start(now);
    return running.answer;
  };
}

const tooSlow = () => fault("check_timeout", `no answer within ${longestCheckMs / 1000} seconds`);

/** A Fault's message is written for readers; any other may hold addresses, names and rows, and goes to the log only. */
function explain(error: unknown): string {
  return error instanceof Fault ? error.message : "failed; the log says why";
}
