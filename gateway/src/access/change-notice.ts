import { backoff } from "@tessera/kit/backoff";
import type { Cache } from "@tessera/kit/cache/cache";
import type { Log } from "@tessera/kit/log";
import { pause } from "@tessera/kit/pause";
import type { Db, Dedicated, Tx } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";

const channel = "tessera_gateway_access";

const pauses = { firstMs: 100, longestMs: 5000 };

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
  const listening = listenUntilStopped(db, { log, changed, signal: stopping.signal });
  return {
    async stop() {
      stopHints();
      stopping.abort();
      await listening;
    },
  };
}

async function listenUntilStopped(
  db: Db,
  { log, changed, signal }: { log: Log; changed: () => void; signal: AbortSignal },
): Promise<void> {
  for (let failed = 1; !signal.aborted; failed += 1) {
    try {
      await listenOnce(db, {
        changed,
        signal,
        connected: () => {
          failed = 1;
          changed();
        },
      });
    } catch (error) {
      log.warn("changes of credentials are not heard; they take effect within 30 seconds", { error });
    }
    await pause(backoff(pauses, failed), signal);
  }
}

async function listenOnce(
  db: Db,
  { changed, connected, signal }: { changed: () => void; connected: () => void; signal: AbortSignal },
): Promise<void> {
  const connection = await db.dedicated();
  try {
    const lost = untilLostOrStopped(connection, signal);
    connection.onNotification(changed);
    await connection.run(sql`listen ${identifier(channel)}`);
    connected();
    await lost;
  } finally {
    await connection.release().catch(() => {});
  }
}

function untilLostOrStopped(connection: Dedicated, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    connection.onLost(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
