import { type Sql, sql } from "@tessera/kit/pg/sql";

/** So many characters of a secret are indexed; the migration that makes the index says why. */
export const indexedCharacters = 250;

/** What of a secret, or of a code that may be one, the index on secrets knows. Written here as in the index: no other expression finds it. */
export function indexedSecret(secret: Sql): Sql {
  return sql`lower(left(${secret}, 250))`;
}
