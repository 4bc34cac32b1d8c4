import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { expect } from "vitest";

/** Waits until so many statements on this database wait for a lock. A transaction would see the sessions of its first look for ever. */
export async function untilWaiting(db: Db, statements = 1): Promise<void> {
  await expect
    .poll(async () => {
      const { waiting } = await db.one<{ waiting: number }>(sql`
        select count(distinct pg_locks.pid) as waiting
          from pg_locks
          join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
         where not pg_locks.granted
           and pg_stat_activity.datname = current_database()`);
      return waiting;
    })
    .toBe(statements);
}
