import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, bytea, rowsAs } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";
import { type ChangedPosition, changedPosition } from "./positions.ts";

/** Draws ids for seats that came without one, larger than those of all seats of the event. */
export async function drawSeatIds(tx: Tx, { organizer, event }: Scope, count: number): Promise<number[]> {
  if (count === 0) return [];
  const rows = await tx.many<{ id: number }>(sql`
    select greatest(highest.id + wanted.number, nextval('seat_id_seq')) as id
      from (select coalesce(max(seat.id), 0) as id
              from seat
             where seat.organizer = ${organizer}
               and seat.event = ${event}) as highest,
           generate_series(1, ${count}::integer) as wanted (number)`);
  return rows.map((row) => row.id);
}

export interface SeatedPosition {
  readonly id: number;
  readonly seat: number;
  /** An encoded Position. */
  readonly state: Uint8Array;
}

/** Finds the positions that have one of these seats. */
export async function findSeated(
  tx: Tx,
  { organizer, event }: Scope,
  seats: readonly number[],
): Promise<SeatedPosition[]> {
  return tx.many<SeatedPosition>(sql`
    select position.id, position.seat, position.state
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.seat = any(${seats}::bigint[])`);
}

/** Replaces the states of positions and returns changed positions. */
export async function replaceStates(
  tx: Tx,
  { organizer, event }: Scope,
  rows: readonly Omit<SeatedPosition, "seat">[],
): Promise<ChangedPosition[]> {
  if (rows.length === 0) return [];
  return tx.many<ChangedPosition>(sql`
    update position
       set state = incoming.state,
           revision = nextval('revision_seq')
      from ${rowsAs("incoming", { id: bigint, state: bytea }, rows)}
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = incoming.id
       and position.state <> incoming.state
    returning ${changedPosition(sql`position`)}`);
}
