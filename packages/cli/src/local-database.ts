import { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/log";
import { startEmbeddedPostgres } from "@tessera/kit/pg/embedded";

/** Opens the database of a URL, or the embedded PostgreSQL where there is none. */
export async function openLocalDatabase(options: {
  url: string | undefined;
  directory: string;
  fresh: boolean;
  log: Log;
}): Promise<{ url: string; stop(): Promise<void> }> {
  const { url, directory, fresh, log } = options;
  if (url === undefined) {
    return startEmbeddedPostgres({
      directory,
      fresh,
      log: (line: string) => log.info("embedded PostgreSQL", { line }),
    });
  }
  if (fresh)
    throw new Fault(
      "invalid",
      "fresh_needs_embedded",
      "--fresh empties only the embedded database; empty the database of --database-url yourself",
    );
  return { url, stop: async () => {} };
}
