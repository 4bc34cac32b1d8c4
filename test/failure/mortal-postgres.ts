import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrateAll } from "@tessera/cli/migrate";
import { processesIn, readServerFile } from "@tessera/embedded-postgres/server-process";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { isRunning } from "@tessera/kit/service/running-process";

/** A database server that can be killed and started again under the same address. */
export interface MortalPostgres {
  readonly url: string;
  /** Ends the server: SIGKILL takes the postmaster alone, SIGQUIT is PostgreSQL's immediate stop. */
  die(signal: "SIGKILL" | "SIGQUIT"): Promise<void>;
  comeBack(): Promise<void>;
  /** Freezes every process of the server: connections stay, and no query is answered. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

/** Starts a server with the schemas of the platform. */
export async function startMortalPostgres(): Promise<MortalPostgres> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-mortal-"));
  await chmod(directory, 0o755);
  const start = () => startEmbeddedPostgres({ directory, durable: false });
  let server: EmbeddedPostgres | undefined = await start();
  const { url } = server;
  await migrateAll({ url, names: ["all"] });
  const frozen: number[] = [];
  const thaw = () => {
    for (const pid of frozen.splice(0)) process.kill(pid, "SIGCONT");
  };
  return {
    url,
    async die(signal) {
      if (server === undefined) throw new Error("the server is dead already");
      await killPostmaster(server.dataDirectory, signal);
      // The former owner releases the directory.
      await server.stop();
      server = undefined;
    },
    async comeBack() {
      server = await start();
      if (server.url !== url) throw new Error("the server came back under another address");
    },
    freeze() {
      frozen.push(...processesIn(join(server?.dataDirectory ?? directory, "data")));
      for (const pid of frozen) process.kill(pid, "SIGSTOP");
    },
    thaw,
    async remove() {
      thaw();
      await server?.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Finds the embedded database of a platform while it runs. */
export async function findOwnDatabase({
  directory,
}: {
  readonly directory: string;
}): Promise<{ url: string; dataDirectory: string }> {
  const dataDirectory = join(directory, "postgres");
  const file = await readServerFile(join(dataDirectory, "data"));
  if (file === undefined) throw new Error(`no server runs on ${dataDirectory}`);
  const url = `postgresql://postgres@/postgres?host=${encodeURIComponent(file.socketDirectory)}&port=5432&sslmode=disable`;
  return { url, dataDirectory };
}

/** Ends the postmaster of a data directory, and waits for its end. */
export async function killPostmaster(dataDirectory: string, signal: "SIGKILL" | "SIGQUIT"): Promise<void> {
  const file = await readServerFile(join(dataDirectory, "data"));
  if (file === undefined) throw new Error(`no server runs on ${dataDirectory}`);
  process.kill(file.pid, signal);
  for (const until = Date.now() + 120_000; isRunning(file.pid) && Date.now() < until; ) await sleep(5);
}

/** Ends every connection of the platform, as a failover or an administrator would; returns how many there were. */
export async function cutConnections(db: Db): Promise<number> {
  return db.run(sql`
    select pg_terminate_backend(pg_stat_activity.pid)
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.application_name in ('tessera-boxoffice', 'tessera-checkin', 'tessera-gateway')`);
}
