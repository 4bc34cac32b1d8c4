import { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Log } from "../telemetry/log.ts";
import { waitAtMost } from "../waiting/wait-at-most.ts";

export type Stage = "starting" | "serving" | "draining";

export interface Readiness {
  /** Whether to send requests here. */
  readonly ready: boolean;
  readonly stage: Stage;
  /** Each dependency with "ok" or its problem. The text is public. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Whether a process can take requests. Dependencies do not decide whether it lives: a restart would not repair them. The
 * event loop shows that by answering.
 */
export interface Health {
  /** Declares a dependency that this process cannot serve without. The check throws when it is lost; its signal aborts when the check takes too long. */
  dependency(name: string, check: (signal: AbortSignal) => Promise<void>): void;
  /** Checks every dependency; never throws. */
  ready(): Promise<Readiness>;
  startedUp(): void;
  /** Notes that this process is about to stop: it is not ready any more. */
  draining(): void;
  readonly stage: Stage;
}

/** Shorter than the timeout of a probe, so that the answer can name the dependency. */
const longestCheckMs = 2000;

/** A dependency that was ok within this time is not checked again, however many probes come. Failures are not cached, so recovery shows at once. */
const goodForMs = 1000;

/** A check that ignores its signal and does not end is abandoned after this time, and a new one may run. */
const abandonedAfterMs = 30_000;

/** Makes the health of a process. It logs the loss and the recovery of a dependency once, not at every probe. */
export function createHealth({ log }: { log?: Log } = {}): Health {
  const dependencies = new Map<string, () => Promise<string>>();
  let stage: Stage = "starting";
  return {
    dependency(name, check) {
      if (dependencies.has(name)) throw new Error(`the dependency ${name} is declared twice`);
      dependencies.set(name, watch(name, check, log));
    },
    async ready() {
      // While the process drains, its dependencies are closing: a check would report an outage.
      const checks = stage === "draining" ? [] : [...dependencies];
      const answers = await Promise.all(checks.map(async ([name, ask]) => [name, await ask()] as const));
      const well = answers.every(([, answer]) => answer === ok);
      // `stage` is read again: the process may have begun to drain meanwhile.
      return { ready: well && stage === "serving", stage, dependencies: Object.fromEntries(answers) };
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

/** A check under way with its answer. */
interface Run {
  readonly since: number;
  readonly answer: Promise<string>;
}

/** Makes the function that checks one dependency. Calls at the same time share one check. */
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
    // A check that takes too long is not replaced by the next probe: checks of a hanging database must not pile up.
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

/** The message of a Fault is public. Other messages may have addresses, names and rows: only the log gets them. */
function explain(error: unknown): string {
  return error instanceof Fault ? error.message : "failed; the log says why";
}
