import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

interface Project {
  provide(name: "postgresUrl", value: string): void;
}

/** Starts one real PostgreSQL for all test files of a run. TEST_DATABASE_URL names another server to use. */
export async function setup(project: Project): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    return async () => {};
  }
  const directory = await mkdtemp(join(tmpdir(), "tessera-test-"));
  // Tests start several platforms at once.
  const postgres = await startEmbeddedPostgres({ directory, durable: false, settings: { max_connections: "400" } });
  project.provide("postgresUrl", postgres.url);
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

export default setup;
