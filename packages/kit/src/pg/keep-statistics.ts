import type { Job } from "../jobs/interval.ts";
import type { Db } from "./database.ts";
import { identifier, sql } from "./sql.ts";

/** A table may double in a few seconds, in an import or when the gates open. */
const everyMs = 1000;

/** Below this many changes any plan is quick. */
const fewestChanges = 500;

/** They are emptied as fast as they are filled, and read by their primary key alone. */
const passingThrough = ["outbox", "dead_letter", "passed_marker"];

/**
 * Analyzes tables that have outgrown what the planner knows of them.
 *
 * Statements are planned once per connection, so a plan made while a table was
 * empty would stay when it holds a million rows; new statistics make every
 * statement be planned anew. The server's own autovacuum comes around once a
 * minute: this is what the first minute needs. It looks at a quarter of the
 * usual sample, which tells empty from large as well, and takes a quarter of a
 * second of a processor less from those who work on a table that grows.
 */
export function keepStatistics(db: Db): Job {
  return { name: "keep-statistics", everyMs, run: () => analyzeGrown(db) };
}

async function analyzeGrown(db: Db): Promise<void> {
  const grown = await db.many<{ name: string }>(sql`
    select pg_stat_user_tables.relname as name
      from pg_stat_user_tables
     where pg_stat_user_tables.schemaname = ${db.schema}
       and pg_stat_user_tables.relname <> all(${passingThrough}::text[])
       and pg_stat_user_tables.relname not like 'inbox%'
       and pg_stat_user_tables.n_mod_since_analyze > ${fewestChanges}
       and pg_stat_user_tables.n_mod_since_analyze > pg_stat_user_tables.n_live_tup / 2`);
  for (const { name } of grown) {
    await db.transaction(async (tx) => {
      await tx.run(sql`set local default_statistics_target = 25`);
      // Autovacuum holds the same lock, and is doing the same or better.
      await tx.run(sql`analyze (skip_locked) ${identifier(name)}`);
    });
  }
}
