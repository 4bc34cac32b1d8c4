import { type Sql, sql } from "./sql.ts";

/**
 * Selects the row of a key: the condition and the order of a `cross join lateral (select … limit 1)` behind a list of keys.
 *
 * The key is a range, which only its own index returns sorted. For an equal key a plan of old statistics, or of none, may
 * read a whole part of the table once for all keys, or once for each of them by another index that begins alike. So may
 * `exists`, of which PostgreSQL drops the order: whether there is a row is asked as `(select true … limit 1) is null`.
 */
export function withKey(columns: Sql, values: Sql): Sql {
  return sql`(${columns}) >= (${values}) and (${columns}) <= (${values}) order by ${columns}`;
}

/** Whether a row is one of those whose `ctid` a part of the statement has found: no index is chosen for them again. */
export function isPlacedIn(row: Sql, found: Sql): Sql {
  return sql`${row}.ctid = any(array(select ${found}.ctid from ${found}))`;
}
