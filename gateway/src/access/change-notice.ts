import type { Cache } from "@tessera/kit/cache/cache";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { listenForNotices } from "@tessera/kit/pg/listen";
import { sql } from "@tessera/kit/pg/sql";
import type { Log } from "@tessera/kit/telemetry/log";

const channel = "tessera_gateway_access";

/** Notifies every gateway process, when the transaction commits, that credentials or events have changed. */
export async function announceChange(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify(${channel}, '')`);
}

/** What keeps a copy of credentials and events in memory. */
export interface Forgetful {
  readonly directory: { forget(): void };
  readonly cache: Cache;
}

/** Clears the cache of this process at once; hints reach the others if notifications of the database do not. */
export function forgetAccess({ directory, cache }: Forgetful): void {
  directory.forget();
  cache.hint(channel, "");
}

export interface Listener {
  stop(): Promise<void>;
}

/**
 * Calls `changed` after every announced change, and whenever an announcement may
 * have been missed because the connection was lost. Hints are a second way: each
 * may get lost.
 */
export function listenForChanges(
  { db, cache, log }: { db: Db; cache: Cache; log: Log },
  changed: () => void,
): Listener {
  const stopHints = cache.onHint(channel, changed);
  const stopping = new AbortController();
  const unheard = (error: unknown) =>
    log.warn("changes of credentials are not heard; they take effect within 30 seconds", { error });
  const listening = listenForNotices(db, { channel, signal: stopping.signal }, { heard: changed, unheard });
  return {
    async stop() {
      stopHints();
      stopping.abort();
      await listening;
    },
  };
}
