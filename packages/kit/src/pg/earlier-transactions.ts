import { pause } from "../waiting/pause.ts";
import type { Queryable } from "./queryable.ts";
import { type Sql, sql } from "./sql.ts";
import { urgentSuffix } from "./urgent.ts";

const pauseMs = 20;

/**
 * Waits until all transactions of this service that run now have ended, also those of other processes: they may act on
 * what they read before this moment. Later ones see everything that is committed by now. `ask` runs a transaction.
 */
export async function waitForEarlierTransactions(
  ask: (question: (tx: Queryable) => Promise<string[]>) => Promise<string[]>,
  signal: AbortSignal,
): Promise<void> {
  let left = await ask((tx) => findRunning(tx, sql`true`));
  while (left.length > 0) {
    await pause(pauseMs, signal);
    signal.throwIfAborted();
    const earlier = left;
    left = await ask((tx) => findRunning(tx, sql`pg_locks.virtualtransaction = any(${earlier}::text[])`));
  }
}

/**
 * Every transaction holds the lock of its own number, which no other ever has. A service is known by its application name:
 * the user may be the same for all services. Read-only connections do not count.
 */
async function findRunning(db: Queryable, condition: Sql): Promise<string[]> {
  const rows = await db.many<{ name: string }>(sql`
    select pg_locks.virtualtransaction as name
      from pg_locks
      join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
     where pg_locks.locktype = 'virtualxid'
       and pg_locks.virtualtransaction = pg_locks.virtualxid
       and pg_locks.pid <> pg_backend_pid()
       and pg_stat_activity.datid = (select pg_database.oid from pg_database where pg_database.datname = current_database())
       and pg_stat_activity.application_name in (
             current_setting('application_name'), current_setting('application_name') || ${urgentSuffix})
       and ${condition}`);
  return rows.map(({ name }) => name);
}
