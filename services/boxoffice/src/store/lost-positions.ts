import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, instant, rowsAs } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";

/** A position deleted from an event with erased data, and when its order was placed, in microseconds since 1970. */
export interface LostPosition {
  readonly id: number;
  readonly placedAt: number;
}

/** Notes deleted positions; if a position was noted before, the older order counts. */
export async function noteLost(tx: Tx, { organizer, event }: Scope, lost: readonly LostPosition[]): Promise<void> {
  if (lost.length === 0) return;
  await tx.run(sql`
    insert into lost_position as kept (organizer, event, id, placed_at)
    select ${organizer}, ${event}, sent.id, sent.placed_at
      from ${rowsAs(
        "sent",
        { id: bigint, placed: instant },
        lost.map(({ id, placedAt }) => ({ id, placed: placedAt })),
      )}
     order by sent.id
        on conflict (organizer, event, id) do update
           set placed_at = least(kept.placed_at, excluded.placed_at)`);
}

/** Finds when the orders were placed that have lost these positions, by their ids. */
export async function findLost(
  tx: Tx,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await tx.many<LostPosition>(sql`
    select lost_position.id, lost_position.placed_at as "placedAt"
      from lost_position
     where lost_position.organizer = ${organizer}
       and lost_position.event = ${event}
       and lost_position.id = any(${ids}::bigint[])`);
  return new Map(rows.map(({ id, placedAt }) => [id, placedAt]));
}
