import { type Sql, sql } from "@tessera/kit/pg/sql";

/**
 * Selects the row of a key in a table with several keys; the caller limits it to one row.
 *
 * The key is a range, which only its own index returns sorted. A plan that was made while the table was new does not
 * prefer that index for an equal key: it may choose any index that begins with the event, and read the whole event for
 * each key.
 */
export function withKey(columns: Sql, values: Sql): Sql {
  return sql`(${columns}) >= (${values}) and (${columns}) <= (${values}) order by ${columns}`;
}
