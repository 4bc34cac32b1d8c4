import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { killWithParent } from "@tessera/testkit/engines/engine-process";
import { serveArguments, untilReady } from "../serving-process.ts";
import type { PlannedProcess } from "./plan.ts";

/** One process of a cluster; it can be started again after it has ended. */
export interface ClusterProcess {
  readonly plan: PlannedProcess;
  /** Starts it, also after it has ended; resolves when it is ready. */
  start(): Promise<void>;
  /** `kill -9`; resolves when it has ended. */
  kill(): Promise<void>;
  /** Stops it in order. */
  stop(): Promise<void>;
  /** Freezes or resumes it. */
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGTERM"): void;
  isRunning(): boolean;
  /** Undefined before its first start. */
  pid(): number | undefined;
}

const longestStopMs = 20_000;

const nodeOptions = [
  // By default the heap grows to about three times what lives in it before it is collected.
  "--max-semi-space-size=16",
  "--heap-growing-percent=50",
  // One helper thread, not four, so that a large collection does not take all processors.
  "--v8-pool-size=1",
];

/** Large buffers go back to the system when they are freed, and threads share what they keep for small ones. */
const memoryVariables = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "262144",
  MALLOC_TRIM_THRESHOLD_: "262144",
};

/** Makes a process that runs one service with an environment of its own; nothing runs yet. */
export function clusterProcess(
  plan: PlannedProcess,
  options: {
    environment: Readonly<Record<string, string>>;
    nodeOptions?: readonly string[] | undefined;
    onLine: (process: string, line: string) => void;
  },
): ClusterProcess {
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  let last = "";

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (isRunning()) child?.kill(signal);
    const hasEnded = await Promise.race([ended.then(() => true), sleep(longestStopMs, false)]);
    if (!hasEnded) child?.kill("SIGKILL");
    await ended;
  };

  return {
    plan,
    isRunning,
    pid: () => child?.pid,
    async start() {
      const { PATH = "", HOME = "", TZ = "", NODE_COMPILE_CACHE = "" } = process.env;
      const given = Object.entries({ TZ, NODE_COMPILE_CACHE }).filter(([, value]) => value !== "");
      const started = spawn(
        process.execPath,
        serveArguments([plan.service], [...nodeOptions, ...(options.nodeOptions ?? [])]),
        {
          env: { PATH, HOME, ...memoryVariables, ...Object.fromEntries(given), ...options.environment },
          stdio: ["ignore", "pipe", "pipe"],
          // Ctrl-C would reach the process as well, and a second signal ends it at once.
          detached: true,
        },
      );
      child = started;
      const watchdog = started.pid === undefined ? undefined : killWithParent(started.pid);
      for (const stream of [started.stdout, started.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          last = line;
          options.onLine(plan.name, line);
        });
      }
      ended = new Promise((resolve) => {
        started.once("close", () => {
          watchdog?.release();
          resolve();
        });
      });
      const url = `http://127.0.0.1:${plan.ports.operations}/readyz`;
      await untilReady({ name: plan.name, url }, { isRunning, lastLine: () => last });
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    signal: (name) => void child?.kill(name),
  };
}
