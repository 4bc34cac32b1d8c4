import { backoff } from "../waiting/backoff.ts";
import { pause } from "../waiting/pause.ts";
import type { Db } from "./database.ts";
import { onOwnConnection } from "./own-connection.ts";
import { identifier, sql } from "./sql.ts";

const pauses = { firstMs: 100, longestMs: 5000 };

/**
 * Listens for notices on a channel until the signal aborts, on one connection. `heard` is called for each notice, and for
 * each new connection, because notices may have been missed. `unheard` is called when the connection fails.
 */
export async function listenForNotices(
  db: Db,
  { channel, signal }: { channel: string; signal: AbortSignal },
  { heard, unheard }: { heard: () => void; unheard: (error: unknown) => void },
): Promise<void> {
  for (let failed = 1; !signal.aborted; failed += 1) {
    try {
      await onOwnConnection(db, async (connection, lost) => {
        connection.onNotification(heard);
        await connection.run(sql`listen ${identifier(channel)}`);
        failed = 1;
        heard();
        await aborted(AbortSignal.any([signal, lost]));
      });
    } catch (error) {
      unheard(error);
    }
    await pause(backoff(pauses, failed), signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
