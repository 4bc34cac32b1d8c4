import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";

/** Below this many changes any plan is quick. */
const fewestChanges = 500;

/** Analyzes the tables of which most rows are unknown to the planner; new statistics make every statement be planned anew. */
export async function analyzeGrown(db: Db): Promise<void> {
  const grown = await db.many<{ name: string }>(sql`
    select pg_stat_user_tables.relname as name
      from pg_stat_user_tables
     where pg_stat_user_tables.schemaname = ${db.schema}
       and pg_stat_user_tables.relname in ('event', 'subevent', 'item', 'list', 'position', 'scan', 'presence')
       and pg_stat_user_tables.n_mod_since_analyze > ${fewestChanges}
       and pg_stat_user_tables.n_mod_since_analyze > pg_stat_user_tables.n_live_tup / 2`);
  // Autovacuum holds the same lock, and is doing the same or better.
  for (const { name } of grown) await db.run(sql`analyze (skip_locked) ${identifier(name)}`);
}
