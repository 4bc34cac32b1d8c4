import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import type { NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseAccount, environment, give } from "@tessera/embedded-postgres/account";
import { type Binaries, findBinaries } from "@tessera/embedded-postgres/binaries";
import { createCluster } from "@tessera/embedded-postgres/create-cluster";
import { prepareDataPlace } from "@tessera/embedded-postgres/data-place";
import { clearFormerServer, processesIn, readServerFile, urlOf } from "@tessera/embedded-postgres/server-process";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type EngineProcess, startProcess } from "@tessera/testkit/engines/engine-process";
import { openAsAdministrator } from "./fact-ledger.ts";

/** A primary, and a standby that has every commit before it is answered. */
export interface ReplicatedPostgres {
  /** Where the primary of this moment is. */
  address(): NetConnectOpts;
  /** PostgreSQL's immediate stop of the primary: every process ends at once, and what is not written is gone. */
  stopImmediately(): Promise<void>;
  /** Starts the stopped primary. */
  comeBack(): Promise<void>;
  /** Kills the primary, or freezes it so that its connections stay open; then promotes the standby. */
  failOver(how: "killed" | "frozen"): Promise<void>;
  /** Makes a new standby, and lets commits wait for it; a former primary that is frozen ends first. */
  addStandby(): Promise<void>;
  remove(): Promise<void>;
}

interface Server {
  readonly data: string;
  readonly sockets: string;
  readonly account: DatabaseAccount | undefined;
  process: EngineProcess | undefined;
}

const standbyName = "standby";

/** Only processes are killed, and what they have written to files stays. */
const settings = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "on",
  listen_addresses: "",
  port: "5432",
  max_connections: "300",
  shared_buffers: "128MB",
  max_wal_size: "1GB",
  // For a standby that is away for a moment.
  wal_keep_size: "512MB",
  wal_retrieve_retry_interval: "200ms",
  hot_standby: "on",
  jit: "off",
  timezone: "UTC",
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
};

/** Starts both. The database is empty. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  // The paths of sockets are limited.
  const directory = await mkdtemp(join(tmpdir().length < 50 ? tmpdir() : "/tmp", "tessera-pair-"));
  await chmod(directory, 0o755);
  const log = () => {};
  let made = 0;
  let binaries: Binaries | undefined;
  let former: Server | undefined;

  async function makePlace(): Promise<Server> {
    made += 1;
    const place = await prepareDataPlace({ directory: join(directory, `server-${made}`), log });
    binaries ??= await findBinaries({ account: place.account, log });
    const sockets = join(place.directory, "run");
    await mkdir(sockets, { mode: 0o700 });
    await give(sockets, place.account);
    return { data: join(place.directory, "data"), sockets, account: place.account, process: undefined };
  }

  async function start(server: Server): Promise<void> {
    await clearFormerServer(server.data, log);
    const all = {
      ...settings,
      unix_socket_directories: server.sockets,
      hba_file: join(server.data, "own_hba.conf"),
      primary_conninfo: `host=${primary.sockets} port=5432 user=postgres application_name=${standbyName}`,
    };
    server.process = await startProcess({
      program: binaries?.postgres ?? "",
      args: ["-D", server.data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      cwd: "/",
      env: environment(),
      account: server.account,
      isReady: async () => ["ready", "standby"].includes((await readServerFile(server.data))?.status ?? ""),
      longestStartMs: 60_000,
      scratch: directory,
    });
  }

  async function kill(server: Server): Promise<void> {
    for (const pid of processesIn(server.data)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await server.process?.end("SIGKILL");
  }

  async function addStandby(): Promise<void> {
    if (former !== undefined) await remove(former);
    former = undefined;
    const next = await makePlace();
    await withAdministrator(primary, (db) => copyRunning(db, { from: primary, to: next }));
    await start(next);
    await withAdministrator(primary, async (db) => {
      await db.run(sql`alter system set synchronous_standby_names = 'standby'`);
      await db.run(sql`select pg_reload_conf()`);
      for (const until = Date.now() + 300_000; ; await sleep(50)) {
        const synced = await db.maybeOne(sql`select 1 as found from pg_stat_replication where sync_state = 'sync'`);
        if (synced !== undefined) break;
        if (Date.now() > until) throw new Error("the standby does not follow");
      }
    });
    standby = next;
  }

  async function remove(server: Server): Promise<void> {
    await kill(server);
    await rm(join(server.data, ".."), { recursive: true, force: true });
  }

  let primary = await makePlace();
  let standby: Server | undefined;
  if (binaries === undefined) throw new Error("there are no programs");
  const place = { directory: join(primary.data, ".."), account: primary.account };
  await createCluster({ place, binaries, durable: false, log });
  const admitted = join(primary.data, "own_hba.conf");
  await writeFile(admitted, "local all all trust\nlocal replication all trust\n", { mode: 0o600 });
  await give(admitted, primary.account);
  await start(primary);
  await addStandby();

  return {
    address: () => ({ path: join(primary.sockets, ".s.PGSQL.5432") }),
    async stopImmediately() {
      const file = await readServerFile(primary.data);
      if (file === undefined) throw new Error("the primary does not run");
      process.kill(file.pid, "SIGQUIT");
      await primary.process?.ended;
    },
    comeBack: () => start(primary),
    async failOver(how) {
      const next = standby;
      if (next === undefined) throw new Error("there is no standby");
      standby = undefined;
      former = primary;
      if (how === "killed") await kill(former);
      else for (const pid of processesIn(former.data)) process.kill(pid, "SIGSTOP");
      await withAdministrator(next, async (db) => {
        await db.run(sql`select pg_promote(true, 30)`);
        // It would wait for a standby that it does not have yet.
        await db.run(sql`alter system reset synchronous_standby_names`);
        await db.run(sql`select pg_reload_conf()`);
      });
      primary = next;
    },
    addStandby,
    async remove() {
      for (const server of [former, standby, primary]) if (server !== undefined) await kill(server);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function withAdministrator<T>(server: Server, work: (db: Db) => Promise<T>): Promise<T> {
  const db = openAsAdministrator(urlOf(server.sockets));
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** These have nothing that another server can use. */
const leftOut = new Set(["postmaster.pid", "postmaster.opts", "standby.signal"]);
const leftEmpty = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);

/** Copies a server that runs, as pg_basebackup does. The copy gets the log from it. */
async function copyRunning(db: Db, { from, to }: { readonly from: Server; readonly to: Server }): Promise<void> {
  // The backup ends with the session that began it.
  const session = await db.dedicated();
  try {
    await session.run(sql`select pg_backup_start('standby', true)`);
    await copyFolder(from.data, to.data, to.account);
    for (const name of ["archive_status", "summaries"]) {
      const folder = join(to.data, "pg_wal", name);
      await mkdir(folder, { mode: 0o700 });
      await give(folder, to.account);
    }
    const { label } = await session.one<{ label: string }>(sql`select labelfile as label from pg_backup_stop(false)`);
    for (const [name, text] of [
      ["backup_label", label],
      ["standby.signal", ""],
    ] as const) {
      await writeFile(join(to.data, name), text, { mode: 0o600 });
      await give(join(to.data, name), to.account);
    }
  } finally {
    await session.release();
  }
}

async function copyFolder(from: string, to: string, account: DatabaseAccount | undefined): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await give(to, account);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (leftOut.has(entry.name)) continue;
    if (entry.isDirectory() && !leftEmpty.has(entry.name)) await copyFolder(source, copy, account);
    else if (entry.isDirectory()) {
      await mkdir(copy, { mode: 0o700 });
      await give(copy, account);
    } else {
      try {
        await copyFile(source, copy);
      } catch (error) {
        // A table was dropped meanwhile.
        if ((await stat(source).catch(() => undefined)) !== undefined) throw error;
        continue;
      }
      await give(copy, account);
    }
  }
}
