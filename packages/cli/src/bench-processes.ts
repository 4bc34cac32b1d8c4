import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A service in a process of its own, as in a pod. */
export interface ServingProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

const longestStartMs = 60_000;

/** Starts `tessera serve NAME` with the settings given; resolves when it is ready. */
export async function startServing(
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<ServingProcess> {
  const main = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./main.ts" : "./main.js", import.meta.url));
  const [operations, grpc] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [...process.execArgv, main, "serve", name], {
    env: {
      ...process.env,
      LOG_LEVEL: "warn",
      METRICS_PORT: String(operations),
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: String(grpc),
      ...environment,
    },
    // What it logs is no figure.
    stdio: ["ignore", process.stderr, process.stderr],
  });
  const stop = () => stopChild(child);
  try {
    await untilReady(name, child, operations);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, stop };
}

async function untilReady(name: string, child: ChildProcess, port: number): Promise<void> {
  for (const until = Date.now() + longestStartMs; Date.now() < until; await sleep(25)) {
    if (child.exitCode !== null) throw new Error(`${name} stopped before it was ready`);
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
  }
  throw new Error(`${name} was not ready within a minute`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const killing = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await ended;
  clearTimeout(killing);
}

/** Finds a port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/** What processes have used since they began: seconds of CPU, and the most memory in MiB. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

/** Reads what one process has used; nothing where the system does not tell. */
export async function usageOf(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([readStat(pid), readText(`/proc/${pid}/status`)]);
  return { cpuSeconds: stat?.ownSeconds ?? 0, peakMegabytes: peakOf(status) };
}

/** Reads what a PostgreSQL server's processes have used, those that have ended included; the memory is that of the largest. */
export async function usageOfPostgres(dataDirectory: string): Promise<Usage> {
  const parent = Number((await readText(join(dataDirectory, "data", "postmaster.pid"))).split("\n")[0]);
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(async (pid) => ({ pid, stat: await readStat(pid) })));
  const children = stats.filter(({ stat }) => stat?.parent === parent);
  const server = stats.find(({ pid }) => pid === parent)?.stat;
  const peaks = await Promise.all(children.map(({ pid }) => readText(`/proc/${pid}/status`).then(peakOf)));
  return {
    cpuSeconds: children.reduce(
      (sum, { stat }) => sum + (stat?.ownSeconds ?? 0),
      (server?.ownSeconds ?? 0) + (server?.endedSeconds ?? 0),
    ),
    peakMegabytes: Math.max(0, ...peaks),
  };
}

interface Stat {
  readonly parent: number;
  readonly ownSeconds: number;
  /** Of its children that have ended. */
  readonly endedSeconds: number;
}

/** The kernel counts in hundredths of a second, whatever the machine. */
const ticksPerSecond = 100;

async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readText(`/proc/${pid}/stat`);
  // Behind the name, which may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  if (parent === undefined || Number.isNaN(parent)) return undefined;
  return {
    parent,
    ownSeconds: ((user ?? 0) + (system ?? 0)) / ticksPerSecond,
    endedSeconds: ((endedUser ?? 0) + (endedSystem ?? 0)) / ticksPerSecond,
  };
}

function peakOf(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
