import type { Db } from "./database.ts";
import { sql } from "./sql.ts";

/**
 * Throws if the database does not answer. While all connections for requests are in use, another connection asks: a
 * full pool is no lost database.
 */
export async function requireAnswer({ db, urgent }: { readonly db: Db; readonly urgent: Db }): Promise<void> {
  const { used, limit } = db.pool();
  await (used < limit ? db : urgent).one(sql`select 1 as alive`);
}
