import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/**
 * The time of a database, in microseconds since 1970: after all that it has stored, and before all that follows. The clock of
 * the process counts milliseconds, and may be before what was stored in the last one.
 */
export async function databaseTime(db: Queryable): Promise<number> {
  return (await db.one<{ time: number }>(sql`select clock_timestamp() as time`)).time;
}
