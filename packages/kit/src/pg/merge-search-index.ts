import { Fault } from "../fault.ts";
import type { Queryable } from "./queryable.ts";
import { sql } from "./sql.ts";

/**
 * Merges the entries that wait beside a GIN index into it; searches read those that wait, too. Others merge them as well: a
 * replica, an insert that finds the list full, a vacuum. If one of these has the lock for long, there is nothing left to do.
 */
export async function mergeSearchIndex(db: Queryable, index: string): Promise<void> {
  try {
    await db.run(sql`select gin_clean_pending_list(${index}::regclass)`);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "locked") throw error;
  }
}
