import type { Db, Tx } from "@tessera/kit/pg/database";
import { listenForNotices } from "@tessera/kit/pg/listen";
import { sql } from "@tessera/kit/pg/sql";
import type { Log } from "@tessera/kit/telemetry/log";

const channel = "tessera_gateway_access";

/** Notifies every gateway process of changed credentials or events when the transaction commits. */
export async function announceChange(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify(${channel}, '')`);
}

/** A process with a cache of credentials and events. */
export interface Forgetful {
  readonly directory: { forget(): void };
}

export interface Listener {
  stop(): Promise<void>;
}

/** Calls `changed` after every notification, and when one may be lost with the connection. */
export function listenForChanges({ db, log }: { db: Db; log: Log }, changed: () => void): Listener {
  const stopping = new AbortController();
  const unheard = (error: unknown) =>
    log.warn("changes of credentials are not heard; they take effect within 30 seconds", { error });
  const listening = listenForNotices(db, { channel, signal: stopping.signal }, { heard: changed, unheard });
  return {
    async stop() {
      stopping.abort();
      await listening;
    },
  };
}
