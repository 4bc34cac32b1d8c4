import type { Db } from "@tessera/kit/pg/database";
import type { Job } from "@tessera/kit/service";
import { analyzeGrown } from "../store/statistics.ts";

/** The hottest table may double in a few seconds when the gates open. */
const everyMs = 1000;

/**
 * Analyzes tables that have outgrown what the planner knows of them.
 *
 * Statements are planned once per connection, so a plan made while a table was
 * empty would stay when it holds a million rows. The server's own autovacuum
 * comes around once a minute; this is what the first minute needs.
 */
export function keepStatistics(db: Db): Job {
  return { name: "keep-statistics", everyMs, run: () => analyzeGrown(db) };
}
