import { inMicroseconds } from "./instants.ts";
import type { Queryable } from "./queryable.ts";
import { sql } from "./sql.ts";

/** A small correction of the clock must not set a sequence back. */
const margin = 1_000_000;

/**
 * Draws a revision above all earlier ones, also after a restore from a backup: the time in microseconds, or the
 * sequence if it is ahead. A lock of the caller serializes this: a second transaction would set the sequence back.
 */
export async function drawAboveClock(tx: Queryable, sequence: string): Promise<number> {
  const { revision } = await tx.one<{ revision: number }>(sql`
    select case when coalesce(pg_sequence_last_value(${sequence}::regclass), 0) < clock.micros - ${margin}::bigint
                then setval(${sequence}::regclass, clock.micros)
                else nextval(${sequence}::regclass)
           end as revision
      from (select ${inMicroseconds(sql`clock_timestamp()`)} as micros) as clock`);
  return revision;
}
