import type { ChildProcess } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "@tessera/kit/service/running-process";
import { afterEach } from "vitest";
import { readServerFile } from "../server-process.ts";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "../start.ts";
import { startElsewhere } from "./other-process.ts";

/** What a stopped server leaves in its directory. */
export const left = ["data", "pg_hba.conf", "pg_ident.conf", "postgres.log"];

/** Starts servers for the tests of a file. After each test, their processes and their directories are gone. */
export function removedServers() {
  const servers = new Set<EmbeddedPostgres>();
  const children = new Set<ChildProcess>();
  const rubbish = new Set<string>();

  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) await server.stop();
    for (const path of rubbish) {
      const file = await readServerFile(join(path, "pg/data"));
      if (file !== undefined) await killServer(join(path, "pg"), "SIGQUIT");
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    }
    for (const set of [children, servers, rubbish]) set.clear();
  });

  return {
    /** Processes to end. */
    children,
    /** Directories to remove. */
    rubbish,
    /** A directory that is not there yet, below one that any account can pass. */
    async freshDirectory(): Promise<string> {
      const parent = await mkdtemp(join(tmpdir(), "tessera-embedded-"));
      await chmod(parent, 0o755);
      rubbish.add(parent);
      return join(parent, "pg");
    },
    async start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
      const server = await startEmbeddedPostgres({ durable: false, ...options });
      servers.add(server);
      return server;
    },
    /** Starts another process that starts the server and then waits to be killed. */
    startElsewhere(...given: Parameters<typeof startElsewhere>): ReturnType<typeof startElsewhere> {
      const started = startElsewhere(...given);
      children.add(started.child);
      return started;
    },
  };
}

export async function killServer(directory: string, signal: NodeJS.Signals): Promise<void> {
  const file = await readServerFile(join(directory, "data"));
  if (file === undefined || !isRunning(file.pid)) return;
  process.kill(file.pid, signal);
  for (let tries = 0; isRunning(file.pid) && tries < 500; tries++) await sleep(10);
}

/** A client of the driver, which is a test's to import. */
interface Client {
  connect(): Promise<unknown>;
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>;
  end(): Promise<void>;
}

/** Makes a function that runs a statement on a server, each through a new connection. */
export function queryThrough(Driver: new (options: { connectionString: string }) => Client) {
  return async (url: string, text: string): Promise<Record<string, unknown>[]> => {
    const client = new Driver({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
}
