import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "@tessera/kit/backoff";
import { unprivileged } from "./account.ts";
import { admitOwner } from "./admit-owner.ts";
import { type Binaries, findBinaries } from "./binaries.ts";
import { createCluster, requireVersion } from "./create-cluster.ts";
import { type DataPlace, prepareDataPlace } from "./data-place.ts";
import { fault } from "./faults.ts";
import { type DirectoryLock, lockDataDirectory } from "./lock-directory.ts";
import { cannotRun, environment } from "./run-program.ts";
import { clearFormerServer, readServerFile, stopServer, urlOf } from "./server-process.ts";

/** A PostgreSQL server with a socket for this user alone, and for root. */
export interface EmbeddedPostgres {
  /** The superuser's URL, through the socket; there is no TCP. */
  readonly url: string;
  /** The real directory of the cluster, its log and its lock. As root it may differ from the wanted one. */
  readonly dataDirectory: string;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly directory: string;
  readonly log?: (line: string) => void;
  /** Server settings that add to the built-in ones or replace them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** `false` for tests: then a crash of the machine may lose data, but not a crash of a process. */
  readonly durable?: boolean;
  /** `true`: the data of the directory is deleted first. */
  readonly fresh?: boolean;
}

/**
 * Starts the PostgreSQL of the installation on a directory, which it creates if necessary.
 *
 * `kill -9` may interrupt any step: a cluster gets its name when it is complete, the lock of a dead process is not valid,
 * and an orphaned server is stopped before another one starts.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log = () => {}, durable = true } = options;
  const place = await explainUnwritable(options.directory, () =>
    prepareDataPlace({ directory: options.directory, log }),
  );
  const binaries = await findBinaries({ account: place.account, log });
  const lock = await explainUnwritable(place.directory, () => lockDataDirectory(place.directory));
  const data = join(place.directory, "data");
  let socketDirectory: string | undefined;
  try {
    await clearFormerServer(data, log);
    if (options.fresh === true) await discard(data);
    await explainUnwritable(place.directory, () => createCluster({ place, binaries, durable, log }));
    await requireVersion(data, binaries);
    socketDirectory = await makeSocketDirectory(place);
    const access = await admitOwner(place);
    const settings = { ...ours, ...(durable ? {} : forgetful), ...options.settings };
    const launch = { place, binaries, socketDirectory, access, settings, log };
    return handOver({ server: await startServer(launch), launch, lock });
  } catch (error) {
    if (socketDirectory !== undefined) await rm(socketDirectory, { recursive: true, force: true });
    await lock.release();
    throw error;
  }
}

/** Renames the cluster before it deletes it: a cluster with its name must be complete. */
async function discard(data: string): Promise<void> {
  const doomed = `${data}.discarded`;
  await rm(doomed, { recursive: true, force: true });
  await rename(data, doomed).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rm(doomed, { recursive: true, force: true });
}

/** Settings for two cores and one application that differ from PostgreSQL's defaults. */
const ours: Readonly<Record<string, string>> = {
  max_connections: "200",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  synchronous_commit: "on",
  autovacuum: "on",
  // Statements are short: compiling them costs more than it saves.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] ",
  log_checkpoints: "off",
  // Statements and details of errors quote values, which may be names of people.
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
};

/** A commit still reaches the operating system before its answer, so even a killed server loses none. */
const forgetful: Readonly<Record<string, string>> = { fsync: "off", full_page_writes: "off" };

/** Socket paths must fit into 104 (macOS) or 108 bytes with `/.s.PGSQL.5432.lock` and a terminating zero. */
const longestSocketDirectory = 80;

/** Makes the directory of the socket, which only the database's account can enter. */
async function makeSocketDirectory({ directory, account }: DataPlace): Promise<string> {
  const wanted = join(directory, "run");
  // The setting is a list, in which spaces, commas and quotes have a meaning.
  const fits = Buffer.byteLength(wanted) <= longestSocketDirectory && /^[\w./-]+$/.test(wanted);
  await rm(wanted, { recursive: true, force: true });
  const path = fits
    ? await mkdir(wanted, { mode: 0o700 }).then(() => wanted)
    : await mkdtemp(join(shortTemporary(), "tessera-pg-"));
  // Other programs may run as the user of the account, but none in its group.
  const isByGroup = account?.gid === unprivileged.gid;
  await chown(path, isByGroup || account === undefined ? -1 : account.uid, account?.gid ?? -1);
  await chmod(path, isByGroup ? 0o730 : 0o700);
  return path;
}

function shortTemporary(): string {
  return Buffer.byteLength(tmpdir()) <= longestSocketDirectory - "/tessera-pg-abcdef".length ? tmpdir() : "/tmp";
}

interface Launch {
  readonly place: DataPlace;
  readonly binaries: Binaries;
  readonly socketDirectory: string;
  readonly access: Awaited<ReturnType<typeof admitOwner>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Above this size in bytes a new log begins. One older log is kept. */
const longestLog = 16 * 1024 * 1024;

/**
 * The backends of a killed server may still be ending. Or a killed process may have just started a server, which is not
 * in the file yet. So a failed start is tried again.
 */
const launches = 3;

async function startServer(launch: Launch): Promise<ChildProcess> {
  const logFile = join(launch.place.directory, "postgres.log");
  if ((await sizeOf(logFile)) > longestLog) await rename(logFile, `${logFile}.1`);
  for (let attempt = 1; ; attempt++) {
    const from = await sizeOf(logFile);
    const server = await spawnServer(launch, logFile);
    if (await becomesReady(server, launch)) return server;
    if (attempt === launches) throw cannotRun("postgres", (await readFile(logFile)).subarray(from).toString());
    await sleep(500);
    await clearFormerServer(join(launch.place.directory, "data"), launch.log);
  }
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Starts the server in a session of its own: a Ctrl-C in the terminal is for this process, which then stops the server. */
async function spawnServer(
  { place, binaries, socketDirectory, access, settings }: Launch,
  logFile: string,
): Promise<ChildProcess> {
  const fixed = { listen_addresses: "", port: "5432", unix_socket_directories: socketDirectory, ...access };
  const flags = Object.entries({ ...settings, ...fixed }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const output = await open(logFile, "a", 0o600);
  try {
    const server = spawn(binaries.postgres, ["-D", join(place.directory, "data"), ...flags], {
      ...place.account,
      cwd: "/",
      env: environment(),
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
    });
    await new Promise<void>((resolve, reject) => {
      server.once("spawn", resolve);
      server.once("error", (error) => reject(cannotRun("postgres", error.message)));
    });
    server.unref();
    endWithThisProcess(server);
    return server;
  } finally {
    await output.close();
  }
}

/**
 * Ends the server when this process ends without stopping it, by an error or by `process.exit`. Nothing can wait then: the
 * server stops without writing, and the next start recovers.
 */
function endWithThisProcess(server: ChildProcess): void {
  const end = () => void server.kill("SIGQUIT");
  process.once("exit", end);
  server.once("exit", () => process.off("exit", end));
}

/**
 * Waits until the server accepts connections, or ends: recovery after a crash has no time limit. The socket must exist
 * too. Its directory is new, but the server's file may be that of its predecessor, even with the same process id.
 */
async function becomesReady(server: ChildProcess, { place, socketDirectory, log }: Launch): Promise<boolean> {
  const socket = join(socketDirectory, ".s.PGSQL.5432");
  let nextNotice = Date.now() + 5000;
  while (!hasEnded(server)) {
    const file = await readServerFile(join(place.directory, "data"));
    if (existsSync(socket) && file?.pid === server.pid && file?.status === "ready") return true;
    if (Date.now() >= nextNotice) {
      nextNotice = Date.now() + 5000;
      log("the database is still recovering from an earlier crash");
    }
    await sleep(5);
  }
  return false;
}

/** The pauses between attempts to restart a server that ended by itself. The reason may pass. */
const revivalPauses = { firstMs: 100, longestMs: 5000 };

/** Returns a running server, and restarts it whenever it ends by itself. */
function handOver(running: { server: ChildProcess; launch: Launch; lock: DirectoryLock }): EmbeddedPostgres {
  const { launch, lock } = running;
  const { place, socketDirectory, log } = launch;
  let { server } = running;
  let stopped: Promise<void> | undefined;
  let revival: Promise<void> | undefined;

  const watch = () => {
    const watched = server;
    watched.once("exit", (code, signal) => {
      if (stopped !== undefined) return;
      log(
        `the database ended by itself (${signal ?? `code ${code}`}) and is started again: see ${join(place.directory, "postgres.log")}`,
      );
      revival = revive();
    });
  };
  const revive = async () => {
    for (let failed = 1; stopped === undefined; failed += 1) {
      try {
        await clearFormerServer(join(place.directory, "data"), log);
        server = await startServer(launch);
        watch();
        return;
      } catch (error) {
        log(`the database could not be started again: ${error instanceof Error ? error.message : String(error)}`);
        await sleep(backoff(revivalPauses, failed));
      }
    }
  };
  const stop = async () => {
    await revival;
    await stopServer({ kill: (signal) => server.kill(signal), hasEnded: () => hasEnded(server) });
    await rm(socketDirectory, { recursive: true, force: true });
    await lock.release();
  };
  watch();
  return {
    url: urlOf(socketDirectory),
    dataDirectory: place.directory,
    stop: () => (stopped ??= stop()),
  };
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

const unwritable = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOTDIR",
  "EEXIST",
  "ENOTEMPTY",
  "ENOSPC",
  "EDQUOT",
  "ELOOP",
  "ENAMETOOLONG",
]);

async function explainUnwritable<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (!unwritable.has(code)) throw error;
    throw fault(
      "data_directory_not_writable",
      `the data directory ${directory} cannot be used (${code} at ${(error as NodeJS.ErrnoException).path ?? directory}): make it a directory that this user can write to, or choose another one`,
      { cause: error },
    );
  }
}
