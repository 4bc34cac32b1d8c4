import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { killWithParent } from "@tessera/testkit/engines/engine-process";
import { fault } from "./faults.ts";

const main = fileURLToPath(import.meta.resolve("@tessera/cli/main"));

/** The arguments for this Node to run `tessera serve …`. */
export function serveArguments(serve: readonly string[], nodeOptions: readonly string[] = []): string[] {
  const unbuilt = extname(main) === ".ts" ? ["--conditions=source", "--disable-warning=ExperimentalWarning"] : [];
  return [...nodeOptions, ...unbuilt, main, "serve", ...serve];
}

const longestStartMs = 60_000;

/** Waits until a process answers 200 at a URL. */
export async function untilReady(
  { name, url }: { name: string; url: string },
  { isRunning, lastLine = () => "" }: { isRunning: () => boolean; lastLine?: () => string },
): Promise<void> {
  for (const until = Date.now() + longestStartMs; Date.now() < until; await sleep(25)) {
    if (!isRunning()) throw fault("process_ended", `${name} ended before it was ready: ${lastLine()}`);
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
  }
  throw fault("process_not_ready", `${name} was not ready within a minute: ${lastLine()}`);
}

/** A process that a benchmark measures. */
export interface ServingProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts `tessera serve …`; resolves when it answers 200 at the URL. */
export async function startServing(
  serve: readonly string[],
  { url, environment }: { url: string; environment: Readonly<Record<string, string>> },
): Promise<ServingProcess> {
  const child = spawn(process.execPath, serveArguments(serve, process.execArgv), {
    env: { ...process.env, ...environment },
    // Standard output is for figures alone; `serve all` logs to a file.
    stdio: ["ignore", "ignore", process.stderr],
  });
  // Its data goes with the benchmark: nothing has to be written any more.
  const watchdog = child.pid === undefined ? undefined : killWithParent(child.pid);
  child.once("exit", () => watchdog?.release());
  const stop = () => stopChild(child);
  try {
    await untilReady({ name: serve[0] ?? "", url }, { isRunning: () => !hasEnded(child) });
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, stop };
}

const longestStopMs = 15_000;

async function stopChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const killing = setTimeout(() => child.kill("SIGKILL"), longestStopMs);
  await ended;
  clearTimeout(killing);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
