import type { Db, Dedicated } from "../pg/database.ts";
import { type Lock, tryLead } from "../pg/locks.ts";
import { onOwnConnection } from "../pg/own-connection.ts";
import type { Log } from "../telemetry/log.ts";
import { backoff } from "../waiting/backoff.ts";
import { pause } from "../waiting/pause.ts";

/** How often a process that does not lead asks for the lead. */
const followMs = 250;

const pauses = { firstMs: 200, longestMs: 5000 };

export interface Leader {
  /** Ends the lead when the work under way has ended. */
  stop(): Promise<void>;
}

export interface LeaderOptions {
  readonly db: Db;
  readonly lock: Lock;
  readonly log: Log;
  /** The work of the leader. The signal aborts at `stop` and when the lead is lost. */
  lead(connection: Dedicated, signal: AbortSignal): Promise<void>;
}

/**
 * Of all processes that start the same leader, one at a time leads: its connection holds the lock. When it loses the
 * connection, it loses the lead.
 *
 * | mode | what the process does | it enters |
 * |---|---|---|
 * | connecting | opens a connection for the lock | following; backing off when that fails |
 * | following | asks for the lock every 250 ms | leading when it gets it; backing off when the connection is lost |
 * | leading | runs `lead` | connecting when `lead` returns; backing off when it throws |
 * | backing off | waits, twice as long after each failure | connecting |
 *
 * `stop` ends every mode.
 */
export function startLeader({ db, lock, log, lead }: LeaderOptions): Leader {
  const stopping = new AbortController();

  async function run(): Promise<void> {
    const { signal } = stopping;
    for (let failed = 0; !signal.aborted; ) {
      try {
        await onOwnConnection(db, async (connection, lost) => {
          while (!signal.aborted && !(await tryLead(connection, lock))) {
            failed = 0;
            await pause(followMs, signal);
          }
          failed = 0;
          if (!signal.aborted) await lead(connection, AbortSignal.any([signal, lost]));
        });
      } catch (error) {
        if (signal.aborted) return;
        failed += 1;
        log.warn("cannot lead; it tries again", { lock: lock.name, error });
        await pause(backoff(pauses, failed), signal);
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Runs work if no other process runs it. The signal of the work also aborts when the lead is lost. */
export async function leadOnce(
  db: Db,
  { lock, signal }: { lock: Lock; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await onOwnConnection(db, async (connection, lost) => {
    if (await tryLead(connection, lock)) await work(AbortSignal.any([signal, lost]));
  });
}
