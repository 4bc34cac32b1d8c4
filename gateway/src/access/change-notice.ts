import type { Cache } from "@tessera/kit/cache/cache";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { listenForNotices } from "@tessera/kit/pg/listen";
import { sql } from "@tessera/kit/pg/sql";
import type { Log } from "@tessera/kit/telemetry/log";

const channel = "tessera_gateway_access";

/** Notifies every gateway process of changed credentials or events when the transaction commits. */
export async function announceChange(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify(${channel}, '')`);
}

/** A cache of credentials and events. */
export interface Forgetful {
  readonly directory: { forget(): void };
  readonly cache: Cache;
}

/** Clears the cache of this process at once. Hints reach the other processes if database notifications do not. */
export function forgetAccess({ directory, cache }: Forgetful): void {
  directory.forget();
  cache.hint(channel, "");
}

export interface Listener {
  stop(): Promise<void>;
}

/**
 * Calls `changed` after every notification, and when one may be lost with the connection. Hints are a second channel.
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
