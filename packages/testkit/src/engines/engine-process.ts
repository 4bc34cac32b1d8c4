import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { connect, Socket } from "node:net";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type DirectoryLock, tryLockDirectory } from "@tessera/embedded-postgres/lock-directory";

/** Whether this machine can run an engine; if not, one sentence with the remedy. */
export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

/** The running process of an engine. */
export interface EngineProcess {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Ends it with a signal and waits for its end; after this time it is killed. */
  end(signal: "SIGTERM" | "SIGKILL", withinMs?: number): Promise<void>;
  /** Freezes it; its connections stay. */
  pause(): void;
  resume(): void;
}

/** The folder of installed engines: TESSERA_ENGINES, else a cache of this repository. */
export function enginesFolder(): string {
  const given = process.env["TESSERA_ENGINES"] ?? "";
  if (given !== "") return given;
  return fileURLToPath(new URL("../../../../node_modules/.cache/tessera-engines", import.meta.url));
}

/** Finds a program on the PATH. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Whether a file exists and may be run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A compiler may take half an hour on a small, busy machine. */
const longestInstallMs = 3_600_000;

/**
 * Returns the folder of an engine, and installs it at the first call. The folder gets its name when it is complete. Other
 * processes wait for the one that installs.
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(enginesFolder(), name);
  if (await exists(folder)) return folder;
  await mkdir(enginesFolder(), { recursive: true });
  const lock = await waitForLock(`${folder}.locks`);
  try {
    if (await exists(folder)) return folder;
    const draft = `${folder}.${randomUUID()}`;
    try {
      await mkdir(draft);
      await install(draft);
      await rename(draft, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    return folder;
  } finally {
    await lock.release();
  }
}

async function waitForLock(directory: string): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true });
  for (const deadline = Date.now() + longestInstallMs; ; await sleep(200)) {
    const lock = await tryLockDirectory(directory);
    if ("release" in lock) return lock;
    if (Date.now() > deadline)
      throw new Error(`process ${lock.heldBy} is still installing what ${directory} is about: end it, or wait`);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Runs an installer to its end. When it fails, the error has its output. */
export async function runInstaller(
  program: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  try {
    await promisify(execFile)(program, args, {
      env: { ...process.env, ...options.env },
      timeout: longestInstallMs,
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { stderr = "", killed = false } = error as { stderr?: string; killed?: boolean };
    const problem = killed
      ? `has not ended within ${longestInstallMs / 60_000} minutes, so it was stopped`
      : "does not work";
    throw new Error(`${[program, ...args].join(" ")} ${problem}: ${stderr.slice(-2000)}`, { cause: error });
  }
}

/** A loaded machine is slow. A server that needs more than this hangs. */
const usualStartMs = 30_000;

/** The data of a stopped engine is not needed. */
const longestStopMs = 10_000;

/** Starts an engine and waits until it is ready. It always ends with this process, and does not keep this process alive. */
export async function startProcess(options: {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** By default the account of this process. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /** Polled until it is true; a rejection counts as false. */
  readonly isReady: () => Promise<boolean>;
  /** The limit for that, in milliseconds. */
  readonly longestStartMs?: number;
  /** A folder to delete if this process ends without stopping the engine. */
  readonly scratch?: string;
}): Promise<EngineProcess> {
  const { longestStartMs = usualStartMs } = options;
  const child = spawn(options.program, options.args, {
    // Ctrl-C in a terminal is for this process, which then stops the engine.
    detached: true,
    ...options.account,
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    });
    keepNobodyAlive(stream);
  }
  let over = false;
  const ended = new Promise<void>((resolve) => {
    const finish = () => {
      over = true;
      resolve();
    };
    child.once("exit", finish);
    child.once("error", finish);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${options.program} cannot be started`);
  child.unref();
  const watchdog = killWithParent(pid, options);
  void ended.then(() => watchdog.release());

  const engine: EngineProcess = {
    pid,
    ended,
    hasEnded: () => over,
    async end(signal, withinMs = longestStopMs) {
      if (over) return;
      // A frozen process reacts only to SIGKILL.
      if (signal === "SIGTERM") child.kill("SIGCONT");
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
      await ended;
      clearTimeout(timer);
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
  const deadline = Date.now() + longestStartMs;
  while (!(await options.isReady().catch(() => false))) {
    if (over) throw new Error(`${options.program} ended while it started: ${said}`);
    if (Date.now() > deadline) {
      await engine.end("SIGKILL");
      throw new Error(`${options.program} is not ready after ${longestStartMs} ms: ${said}`);
    }
    await sleep(20);
  }
  return engine;
}

/** The pipes of a child process are sockets, although their type is not. */
function keepNobodyAlive(pipe: Readable | Writable): void {
  if (pipe instanceof Socket) pipe.unref();
}

/** Makes a shell that kills another process when this process ends, also by `kill -9`: it waits for the end of a pipe. */
export function killWithParent(pid: number, { scratch = "" }: { readonly scratch?: string } = {}): { release(): void } {
  return whenParentEnds('kill -9 "$0" 2>/dev/null; test -z "$1" || { sleep 1; rm -rf "$1"; }', String(pid), scratch);
}

/** Makes a shell that removes a folder when this process ends, also by `kill -9`. Other processes may still end after it. */
export function removeWithParent(folder: string): { release(): void } {
  return whenParentEnds('for try in 1 2 3 4 5 6 7 8 9; do sleep 1; rm -rf "$0" 2>/dev/null && exit; done', folder);
}

function whenParentEnds(orders: string, ...args: readonly string[]): { release(): void } {
  const watchdog = spawn("/bin/sh", ["-c", `cat >/dev/null; ${orders}`, ...args], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.on("error", () => {});
  watchdog.stdin.on("error", () => {});
  watchdog.unref();
  keepNobodyAlive(watchdog.stdin);
  return { release: () => void watchdog.kill("SIGKILL") };
}

/** Whether a process accepts connections at this port. */
export function takesConnections(port: number, host = "127.0.0.1"): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1000 });
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("timeout", () => resolve(false));
  }).finally(() => socket.destroy());
}
