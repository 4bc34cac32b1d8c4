import type { Queryable } from "@tessera/kit/pg/queryable";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "../entity-key.ts";

/** How a kind of personal data was erased. Instants are microseconds since 1970. */
interface ErasedKind {
  /** The time of the last request; null: the erasure runs. Data of that time or later is new. */
  readonly until: number | null;
  /** The time of the database when this was read. */
  readonly now: number;
}

/** By kind of personal data, for the kinds that were erased of an event. */
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

/** Whether stored data of a kind and of this time was erased, or is being erased. */
export function isOfErased(erased: ErasedUntil, kind: string, at: number | null): boolean {
  const found = erased.get(kind);
  return found !== undefined && (found.until === null || at === null || at < found.until);
}

/**
 * Whether a record would bring back data of a kind. A record dated in the future proves no time of its own, so it is
 * refused like one from before the erasure.
 */
export function bringsBackErased(erased: ErasedUntil, kind: string, at: number | null): boolean {
  const found = erased.get(kind);
  return found !== undefined && (isOfErased(erased, kind, at) || (at ?? 0) > found.now + mostAhead);
}
