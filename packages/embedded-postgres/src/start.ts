import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "@tessera/kit/waiting/backoff";
import { environment, unprivileged } from "./account.ts";
import { type Binaries, findBinaries } from "./binaries.ts";
import { cannotRun, createCluster } from "./create-cluster.ts";
import { type DataPlace, prepareDataPlace } from "./data-place.ts";
import { fault } from "./faults.ts";
import { type DirectoryLock, tryLockDirectory } from "./lock-directory.ts";
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
export function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { log = () => {}, durable = true } = options;
  return explainUnwritable(options.directory, async () => {
    const place = await prepareDataPlace({ directory: options.directory, log });
    const binaries = await findBinaries({ account: place.account, log });
    const lock = await lockPlace(place);
    const data = join(place.directory, "data");
    const undo = [() => lock.release()];
    try {
      await clearFormerServer(data, log);
      if (options.fresh === true) await discard(data);
      await createCluster({ place, binaries, durable, log });
      const socketDirectory = await makeSocketDirectory(place);
      undo.push(() => rm(socketDirectory, { recursive: true, force: true }));
      const fixed = { listen_addresses: "", port: "5432", unix_socket_directories: socketDirectory };
      const settings = { ...ours, ...(durable ? {} : forgetful), ...options.settings, ...fixed };
      const flags = Object.entries({ ...settings, ...(await admitOwner(place)) });
      const launch: Launch = { place, data, binaries, socketDirectory, log, flags };
      return await keepRunning(launch, undo);
    } catch (error) {
      for (const step of undo.toReversed()) await step();
      throw error;
    }
  });
}

async function lockPlace({ directory }: DataPlace): Promise<DirectoryLock> {
  const lock = await tryLockDirectory(directory);
  if ("release" in lock) return lock;
  throw fault(
    "data_directory_in_use",
    `the data directory ${directory} is in use by process ${lock.heldBy}: stop that process, or choose another directory`,
  );
}

/** Renames the cluster before it deletes it: a cluster with its name must be complete. */
async function discard(data: string): Promise<void> {
  const doomed = `${data}.discarded`;
  await rm(doomed, { recursive: true, force: true });
  if (existsSync(data)) await rename(data, doomed);
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

/**
 * Writes who may connect: the user of this process and root, as any role. The operating system tells the server who is at
 * the other end of the socket. As root the server runs as a user that other programs may share; these cannot connect.
 */
async function admitOwner({ directory }: DataPlace): Promise<Record<string, string>> {
  const users = new Set(["root", userInfo().username]);
  const settings = { hba_file: join(directory, "pg_hba.conf"), ident_file: join(directory, "pg_ident.conf") };
  for (const path of Object.values(settings)) await rm(path, { force: true });
  // Never through a link that somebody else has put there.
  const options = { flag: "wx", mode: 0o644 };
  await writeFile(settings.hba_file, "local all all peer map=owner\n", options);
  await writeFile(settings.ident_file, [...users].map((user) => `owner "${user}" all\n`).join(""), options);
  // Whatever the umask: the account of the database reads them.
  for (const path of Object.values(settings)) await chmod(path, 0o644);
  return settings;
}

/** Socket paths must fit into 104 (macOS) or 108 bytes with `/.s.PGSQL.5432.lock` and a terminating zero. */
const longestSocketDirectory = 80;

/** Makes the directory of the socket, which only the database's account can enter. */
async function makeSocketDirectory({ directory, account }: DataPlace): Promise<string> {
  const wanted = join(directory, "run");
  await rm(wanted, { recursive: true, force: true });
  // The setting is a list, in which spaces, commas and quotes have a meaning.
  const fits = Buffer.byteLength(wanted) <= longestSocketDirectory && /^[\w./-]+$/.test(wanted);
  const path = fits ? wanted : await mkdtemp(join(tmpdir(), "tessera-pg-"));
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Other programs may run as the user of the account, but none in its group.
  const isByGroup = account?.gid === unprivileged.gid;
  if (account !== undefined) await chown(path, isByGroup ? 0 : account.uid, account.gid);
  await chmod(path, isByGroup ? 0o730 : 0o700);
  return path;
}

interface Launch {
  readonly place: DataPlace;
  readonly data: string;
  readonly binaries: Binaries;
  readonly socketDirectory: string;
  readonly flags: readonly (readonly [name: string, value: string])[];
  readonly log: (line: string) => void;
}

/** Above this size in bytes a new log begins with the next start. One older log is kept. */
const longestLog = 16 * 1024 * 1024;

/** A killed process may have just started a server that is not in the file yet, so a failed start is tried again. */
const launches = 3;

async function startServer(launch: Launch): Promise<ChildProcess> {
  const logFile = join(launch.place.directory, "postgres.log");
  if (existsSync(logFile) && (await stat(logFile)).size > longestLog) await rename(logFile, `${logFile}.1`);
  const from = existsSync(logFile) ? (await stat(logFile)).size : 0;
  for (let attempt = 1; ; attempt += 1) {
    const server = await spawnServer(launch, logFile);
    if (await becomesReady(server, launch)) return server;
    if (attempt === launches) throw cannotRun("postgres", (await readFile(logFile)).subarray(from).toString());
    await sleep(500);
    await clearFormerServer(launch.data, launch.log);
  }
}

/** Starts the server in a session of its own: a Ctrl-C in the terminal is for this process, which then stops the server. */
async function spawnServer({ place, data, binaries, flags }: Launch, logFile: string): Promise<ChildProcess> {
  const output = await open(logFile, "a", 0o600);
  try {
    const server = spawn(
      binaries.postgres,
      ["-D", data, ...flags.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      {
        ...place.account,
        cwd: "/",
        env: environment(),
        detached: true,
        stdio: ["ignore", output.fd, output.fd],
      },
    );
    await new Promise<void>((resolve, reject) => {
      server.once("spawn", resolve);
      server.once("error", (error) => reject(cannotRun("postgres", error.message)));
    });
    server.unref();
    // When this process ends without stopping it, nothing can wait: it stops without writing, and the next start recovers.
    const end = () => void server.kill("SIGQUIT");
    process.once("exit", end);
    server.once("exit", () => process.off("exit", end));
    return server;
  } finally {
    await output.close();
  }
}

/**
 * Waits until the server accepts connections, or ends: recovery after a crash has no time limit. The socket must exist
 * too. Its directory is new, but the server's file may be that of its predecessor, even with the same process id.
 */
async function becomesReady(server: ChildProcess, { data, socketDirectory }: Launch): Promise<boolean> {
  for (; !hasEnded(server); await sleep(5)) {
    const file = await readServerFile(data);
    const isListening = existsSync(join(socketDirectory, ".s.PGSQL.5432"));
    if (isListening && file?.pid === server.pid && file?.status === "ready") return true;
  }
  return false;
}

/** The pauses between attempts to restart a server that ended by itself. The reason may pass. */
const revivalPauses = { firstMs: 100, longestMs: 5000 };

/** Starts the server, and starts it again whenever it ends by itself. */
async function keepRunning(launch: Launch, undo: readonly (() => Promise<void>)[]): Promise<EmbeddedPostgres> {
  const { place, data, socketDirectory, log } = launch;
  let server = await startServer(launch);
  let stopped: Promise<void> | undefined;
  let revival: Promise<void> | undefined;
  const watch = () => {
    server.once("exit", (code, signal) => {
      if (stopped !== undefined) return;
      log(
        `the database ended by itself (${signal ?? `code ${code}`}) and is started again: see ${place.directory}/postgres.log`,
      );
      revival = revive();
    });
  };
  const revive = async () => {
    for (let failed = 1; stopped === undefined; failed += 1) {
      try {
        await clearFormerServer(data, log);
        server = await startServer(launch);
        return watch();
      } catch (error) {
        log(`the database could not be started again: ${error instanceof Error ? error.message : String(error)}`);
        await sleep(backoff(revivalPauses, failed));
      }
    }
  };
  const stop = async () => {
    await revival;
    await stopServer({ kill: (signal) => server.kill(signal), hasEnded: () => hasEnded(server) });
    for (const step of undo.toReversed()) await step();
  };
  watch();
  return { url: urlOf(socketDirectory), dataDirectory: place.directory, stop: () => (stopped ??= stop()) };
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

/** Explains errors of the file system. */
async function explainUnwritable<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, path, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || path === undefined) throw error;
    throw fault(
      "data_directory_not_writable",
      `the data directory ${directory} cannot be used (${code} at ${path}): make it a directory that this user can write to, or choose another one`,
      { cause: error },
    );
  }
}
