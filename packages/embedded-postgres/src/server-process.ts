import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "@tessera/kit/backoff";
import { isRunning, startMarkOf } from "@tessera/kit/running-process";
import { argumentsOf, processesIn } from "./processes.ts";

/** What a server writes about itself into its cluster, as `postmaster.pid`. */
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

/** The superuser's URL. Every part is named, because clients fill gaps from PGPORT, PGSSLMODE and similar variables. */
export function urlOf(socketDirectory: string): string {
  return `postgresql://postgres@/postgres?host=${encodeURIComponent(socketDirectory)}&port=5432&sslmode=disable`;
}

/**
 * Stops a server that outlived the process which had started it, and removes what a killed one left.
 *
 * The server's own check of its left-over file knows only process ids: with one that meanwhile belongs to something
 * else, which in a restarted container is the rule, it would refuse to start. That no former backend is still at work
 * on the cluster it finds out by the shared memory, without the file.
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
 * Ends the backends of a server that was killed. They would end by themselves when they next wait for something, which
 * in a long computation is late, and until then no other server starts on the cluster.
 */
async function stopBackends(data: string): Promise<void> {
  for (const pid of processesIn(data)) {
    if (!argumentsOf(pid)[0]?.startsWith("postgres: ")) continue;
    const startMark = startMarkOf(pid);
    await stopServer({ kill: () => process.kill(pid, "SIGQUIT"), hasEnded: () => !isRunning(pid, startMark) });
  }
}

/**
 * Stops a server: at once for its clients but with everything written, and where that takes longer than 20 seconds
 * without it; the next start then recovers.
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
