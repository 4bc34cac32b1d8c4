import { type Sql, sql } from "@tessera/kit/pg/sql";

/** The indexed length of a secret; the migration that creates the index says why. */
export const indexedCharacters = 250;

/** The expression of the index on secrets; PostgreSQL uses the index for exactly this expression. */
export function indexedSecret(secret: Sql): Sql {
  return sql`lower(left(${secret}, 250))`;
}
