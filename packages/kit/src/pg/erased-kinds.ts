import { type Sql, sql } from "./sql.ts";

/**
 * Whether one of these kinds of personal data, or any kind, is being erased, or was erased, of an event: a condition for
 * statements that must not bring it back. A case that was not requested yet may be taken back, so what comes meanwhile is
 * stored: it is erased with the rest, or it stays.
 */
export function isErased(
  { organizer, event }: { readonly organizer: Sql; readonly event: Sql },
  kinds: readonly string[] | "any",
): Sql {
  return sql`
    exists (select from erasure
             where erasure.organizer = ${organizer}
               and erasure.event = ${event}
               and erasure.is_taken_on
               and ${kinds === "any" ? sql`cardinality(erasure.kinds) > 0` : sql`erasure.kinds && ${kinds}::text[]`})`;
}
