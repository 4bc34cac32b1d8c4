import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isRunning, startMarkOf } from "@tessera/kit/service/running-process";
import { poll } from "@tessera/kit/waiting/poll";

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

/** Whether a process is the server of a cluster. */
export function isServerOf(data: string, pid: number): boolean {
  return isRunning(pid) && argumentsOf(pid).includes(data);
}

/**
 * Stops an orphaned server with its backends, and removes the files of a killed one.
 *
 * The server checks an old `postmaster.pid` only by the process id. If another process has that id now, which is usual in
 * a restarted container, it would refuse to start. It finds former backends by their shared memory, and refuses to start
 * while one of them is in a long computation.
 */
export async function clearFormerServer(data: string, log: (line: string) => void): Promise<void> {
  const file = await readServerFile(data);
  if (file === undefined) return;
  const { pid, socketDirectory } = file;
  if (isServerOf(data, pid)) {
    log(`stopping the database that an ended process left running (process ${pid})`);
    await stopServer({ kill: (signal) => process.kill(pid, signal), hasEnded: () => !isServerOf(data, pid) });
  }
  for (const backend of processesIn(data)) {
    if (!argumentsOf(backend)[0]?.startsWith("postgres: ")) continue;
    const startMark = startMarkOf(backend);
    await stopServer({ kill: () => process.kill(backend, "SIGQUIT"), hasEnded: () => !isRunning(backend, startMark) });
  }
  await rm(join(data, "postmaster.pid"), { force: true });
  if (dirname(socketDirectory) === tmpdir() && basename(socketDirectory).startsWith("tessera-pg-"))
    await rm(socketDirectory, { recursive: true, force: true });
}

/** Each signal, and how long it may take. After the first one a server disconnects its clients and writes all data. */
const demands = { SIGINT: 20_000, SIGQUIT: 8000, SIGKILL: 2000 } as const;

/** Stops a server. If that takes too long, it stops without writing, and the next start recovers. */
export async function stopServer({
  kill,
  hasEnded,
}: {
  kill(signal: NodeJS.Signals): unknown;
  hasEnded(): boolean;
}): Promise<void> {
  for (const [signal, patienceMs] of Object.entries(demands) as [keyof typeof demands, number][]) {
    if (hasEnded()) return;
    try {
      kill(signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    if (await poll(async () => hasEnded(), { until: Date.now() + patienceMs })) return;
  }
  throw new Error("the database does not end, not even when killed");
}

/** The arguments of a running process; empty when it has ended. */
function argumentsOf(pid: number): readonly string[] {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .split(" ");
  } catch {
    return [];
  }
}

/** The processes in this working directory, as far as this account may see them. */
export function processesIn(directory: string): readonly number[] {
  const isIn = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === directory;
    } catch {
      return false;
    }
  };
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && isIn(name))
    .map(Number);
}
