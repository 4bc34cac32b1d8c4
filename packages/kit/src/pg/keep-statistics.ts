import type { Job } from "../jobs/interval.ts";
import type { Db } from "./database.ts";
import { identifier, sql } from "./sql.ts";

/** In an import a table may double in a few seconds. */
const everyMs = 1000;

/** With fewer changes any plan is fast. */
const fewestChanges = 500;

/** Their rows are soon deleted, and read by the primary key only. */
const passingThrough = ["outbox", "dead_letter", "passed_marker"];

/**
 * Analyzes tables that have grown much since their last statistics.
 *
 * Statements are planned once per connection. A plan for an empty table would stay in use for a million rows; new
 * statistics make Postgres plan every statement again. Autovacuum runs once a minute: this job covers the first minute.
 * It takes a quarter of the usual sample, which also distinguishes empty from large tables. That saves a quarter of a
 * second of processor time, which the writers of a growing table need.
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
      // When autovacuum holds this lock, it does the same or better.
      await tx.run(sql`analyze (skip_locked) ${identifier(name)}`);
    });
  }
}
