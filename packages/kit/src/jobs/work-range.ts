import { toTimestamp } from "../pg/instants.ts";
import { type Sql, sql } from "../pg/sql.ts";

/** Work with ids that begin alike, and that was enqueued before an instant. */
export interface WorkRange {
  readonly kind: string;
  readonly prefix: string;
  readonly before: number;
}

export function isWithin({ kind, prefix, before }: WorkRange): Sql {
  return sql`
        work.kind = ${kind}
    and work.id ^@ ${prefix}
    and work.enqueued_at < ${toTimestamp(before)}`;
}
