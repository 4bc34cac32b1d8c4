import { join } from "node:path";
import type { Log } from "@tessera/kit/telemetry/log";
import { fault } from "../faults.ts";

/** Opens the database of a URL, or without one the embedded PostgreSQL. */
export async function openLocalDatabase(options: {
  url: string | undefined;
  directory: string;
  fresh: boolean;
  log: Log;
}): Promise<{ url: string; stop(): Promise<void> }> {
  const { url, directory, fresh, log } = options;
  if (url === undefined) {
    const embedded = await loadOptional(() => import("@tessera/embedded-postgres/start"));
    if (embedded === undefined) throw fault("embedded_database_missing", noDatabase);
    return embedded.startEmbeddedPostgres({
      directory,
      fresh,
      log: (line: string) => log.info("embedded PostgreSQL", { line }),
    });
  }
  return { url, stop: async () => {} };
}

/** Refuses `--fresh` beside a database of one's own. */
export function requireEmbedded(url: string | undefined): void {
  if (url === undefined) return;
  throw fault(
    "fresh_needs_embedded",
    "--fresh empties only the embedded database; empty the database of --database-url yourself",
  );
}

/** The embedded server of a data folder. */
export type LocalServer =
  | { readonly kind: "running"; readonly url: string; readonly pid: number; readonly reason?: undefined }
  | { readonly kind: "absent" | "stopped"; readonly reason: string };

/** Finds the server that `tessera serve all` runs on a data folder, without changing anything. The path is absolute. */
export async function findLocalServer(directory: string): Promise<LocalServer> {
  const embedded = await loadOptional(() => import("@tessera/embedded-postgres/find-server"));
  if (embedded === undefined) return { kind: "absent", reason: noDatabase };
  const found = await embedded.findServer(join(directory, "postgres"));
  if (found.kind === "running") return found;
  const reason =
    found.kind === "stopped"
      ? `the database of ${directory} does not run: it starts with the platform (\`systemctl start tessera\`, or \`tessera serve all --data ${directory}\`)`
      : `${directory} holds no database yet: \`tessera serve all\` creates it; DATABASE_URL or --data name another`;
  return { kind: found.kind, reason };
}

/** The error for a running platform without its own database. */
export function databaseElsewhere(directory: string): string {
  return `the platform that runs on ${directory} has its database elsewhere; set DATABASE_URL to its address, or pass --database-url`;
}

const noDatabase = "this installation has no PostgreSQL of its own: name a server with DATABASE_URL or --database-url";

/** Undefined: an image lacks the package, because its database is always another server. */
async function loadOptional<T>(load: () => Promise<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
