import type { EventKey } from "../pg/entity-key.ts";
import type { Queryable } from "../pg/queryable.ts";
import { sql } from "../pg/sql.ts";

/**
 * The kinds of personal data that an event has no more, each with the time of the last request to erase it, in microseconds
 * since 1970; null: it is being erased. What is from that time or later is new data.
 */
export type ErasedUntil = ReadonlyMap<string, number | null>;

/** Finds what was erased of an event, and until when. */
export async function findErasedUntil(db: Queryable, { organizer, event }: EventKey): Promise<ErasedUntil> {
  const rows = await db.many<{ kind: string; until: number | null }>(sql`
    select erased.kind, case when bool_and(erasure.done_at is not null) then max(erasure.requested_at) end as until
      from erasure
     cross join unnest(erasure.kinds) as erased (kind)
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
     group by erased.kind`);
  return new Map(rows.map(({ kind, until }) => [kind, until]));
}

/** Whether data of a kind that is of this time was erased, or would be. */
export function isOfErased(erased: ErasedUntil, kind: string, at: number | null): boolean {
  const until = erased.get(kind);
  return until !== undefined && (until === null || at === null || at < until);
}
