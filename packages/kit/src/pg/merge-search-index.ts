import { Fault } from "../fault.ts";
import type { Queryable } from "./queryable.ts";
import { sql } from "./sql.ts";

/**
 * Merges the pending list of a GIN index, which every search reads, into the index. A replica, an insert that finds the list
 * full and a vacuum merge it as well: while one of these has the lock, there is nothing to do.
 */
export async function mergeSearchIndex(db: Queryable, index: string): Promise<void> {
  try {
    await db.run(sql`select gin_clean_pending_list(${index}::regclass)`);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "locked") throw error;
  }
}
