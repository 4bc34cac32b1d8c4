import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { expect } from "vitest";

/** Resolves when a connection to this database waits for a lock, for which it may wait only a moment. */
export async function untilLockWait(db: Db): Promise<void> {
  await expect
    .poll(
      () =>
        db.many(sql`
          select pg_stat_activity.pid
            from pg_locks
            join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
           where not pg_locks.granted
             and pg_stat_activity.datname = current_database()`),
      { interval: 5 },
    )
    .not.toEqual([]);
}
