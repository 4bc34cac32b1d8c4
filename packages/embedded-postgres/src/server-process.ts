import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "@tessera/kit/backoff";
import { isRunning, startMarkOf } from "@tessera/kit/running-process";
import { argumentsOf, processesIn } from "./processes.ts";

/** The server's `postmaster.pid` in its cluster. */
export interface ServerFile {
  readonly pid: number;
  readonly socketDirectory: string;
  /** `starting`, `ready`, `stopping`. */
  readonly status: string;
}

export async function readServerFile(data: string): Promise<ServerFile | undefined> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  const [pid = "", , , , socketDirectory = "", , , status = ""] = text.split("\n");
  return /^[1-9][0-9]{0,9}$/.test(pid) ? { pid: Number(pid), socketDirectory, status: status.trim() } : undefined;
}

/** The superuser's URL. It has every part, because clients take missing ones from PGPORT, PGSSLMODE and similar variables. */
export function urlOf(socketDirectory: string): string {
  return `postgresql://postgres@/postgres?host=${encodeURIComponent(socketDirectory)}&port=5432&sslmode=disable`;
}

/**
 * Stops an orphaned server, and removes the files of a killed one.
 *
 * The server checks an old `postmaster.pid` only by the process id. If another process has that id now, which is usual in
 * a restarted container, it would refuse to start. It does not need the file to find former backends: it finds them by
 * their shared memory.
 */
export async function clearFormerServer(data: string, log: (line: string) => void): Promise<void> {
  const file = await readServerFile(data);
  if (file === undefined) return;
  const { pid, socketDirectory } = file;
  const startMark = startMarkOf(pid);
  const isItself = () => isRunning(pid, startMark) && argumentsOf(pid).includes(data);
  if (isItself()) {
    log(`stopping the database that an ended process left running (process ${pid})`);
    await stopServer({ kill: (signal) => process.kill(pid, signal), hasEnded: () => !isItself() });
  }
  await stopBackends(data);
  await rm(join(data, "postmaster.pid"), { force: true });
  if (dirname(socketDirectory) === tmpdir() && basename(socketDirectory).startsWith("tessera-pg-")) {
    await rm(socketDirectory, { recursive: true, force: true });
  }
}

/**
 * Ends the backends of a killed server. By themselves they end when they next wait for something. In a long computation
 * that is late, and until then no other server can start on the cluster.
 */
async function stopBackends(data: string): Promise<void> {
  for (const pid of processesIn(data)) {
    if (!argumentsOf(pid)[0]?.startsWith("postgres: ")) continue;
    const startMark = startMarkOf(pid);
    await stopServer({ kill: () => process.kill(pid, "SIGQUIT"), hasEnded: () => !isRunning(pid, startMark) });
  }
}

/**
 * Stops a server. It disconnects its clients and writes all data. If that takes longer than 20 seconds, it stops without
 * writing, and the next start recovers.
 */
export async function stopServer(server: {
  kill(signal: NodeJS.Signals): unknown;
  hasEnded(): boolean;
}): Promise<void> {
  for (const { signal, patienceMs } of demands) {
    if (server.hasEnded()) return;
    try {
      server.kill(signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    const deadline = Date.now() + patienceMs;
    for (let asked = 1; Date.now() < deadline && !server.hasEnded(); asked += 1) await sleep(backoff(pauses, asked));
  }
  if (!server.hasEnded()) throw new Error("the database does not end, not even when killed");
}

const pauses = { firstMs: 2, longestMs: 50, factor: 1.5 };

const demands: readonly { signal: NodeJS.Signals; patienceMs: number }[] = [
  { signal: "SIGINT", patienceMs: 20_000 },
  { signal: "SIGQUIT", patienceMs: 8_000 },
  { signal: "SIGKILL", patienceMs: 2_000 },
];
