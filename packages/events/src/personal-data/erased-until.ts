import type { Queryable } from "@tessera/kit/pg/queryable";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "../entity-key.ts";

/** How a kind of personal data was erased. Instants are microseconds since 1970. */
interface ErasedKind {
  /** The time of the last request; null: it is being erased. What is from that time or later is new data. */
  readonly until: number | null;
  /** The time of the database when this was read. */
  readonly now: number;
}

/** The kinds of personal data that an event has no more. */
export type ErasedUntil = ReadonlyMap<string, ErasedKind>;

/** The clock of a shop may be ahead by so much, in microseconds. */
const mostAhead = 5 * 60_000_000;

export async function findErasedUntil(db: Queryable, { organizer, event }: EventKey): Promise<ErasedUntil> {
  const rows = await db.many<{ kind: string } & ErasedKind>(sql`
    select erased.kind, case when bool_and(erasure.done_at is not null) then max(erasure.requested_at) end as until,
           clock_timestamp() as now
      from erasure
     cross join unnest(erasure.kinds) as erased (kind)
     where erasure.organizer = ${organizer}
       and erasure.event = ${event}
     group by erased.kind`);
  return new Map(rows.map(({ kind, until, now }) => [kind, { until, now }]));
}

/** Whether stored data of a kind that is of this time was erased, or would be. */
export function isOfErased(erased: ErasedUntil, kind: string, at: number | null): boolean {
  const found = erased.get(kind);
  return found !== undefined && (found.until === null || at === null || at < found.until);
}

/**
 * Whether a record would bring back data of a kind. One that says it is of a time to come says nothing of when it was
 * made: it is refused like those of the time before the erasure.
 */
export function bringsBackErased(erased: ErasedUntil, kind: string, at: number | null): boolean {
  const found = erased.get(kind);
  return found !== undefined && (isOfErased(erased, kind, at) || (at ?? 0) > found.now + mostAhead);
}
