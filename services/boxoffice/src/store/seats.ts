import type { Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { SeatState } from "../domain/fit-needs.ts";
import type { Scope } from "../domain/scope.ts";
import { isUnexpired, isUsable } from "./voucher-claim-rows.ts";

/**
 * Draws ids for seats without one, above those of all seats of the event. The caller holds the lock of the event, so that
 * no import stores another one meanwhile.
 */
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

/** More vouchers than ever claim one seat: with a limit, the planner uses the index of seats. */
const mostClaimants = 100;

/** Finds seats, and their conflicts with claims. One statement: a fact that confirms a hold moves its claims. */
export async function findSeatStates(
  tx: Tx,
  { organizer, event }: Scope,
  seats: readonly { readonly guid: string; readonly subevent: number | null }[],
): Promise<SeatState[]> {
  const isClaimed = (table: Sql, whileUsable = sql``) => sql`
    ${table}.seat is not null${whileUsable}
      and ${withKey(sql`${table}.organizer, ${table}.event, ${table}.seat, coalesce(${table}.subevent, 0)`, sql`${organizer}, ${event}, wanted.guid, coalesce(wanted.subevent, 0)`)}
    limit ${mostClaimants}`;
  return tx.many<SeatState>(sql`
    select wanted.guid, wanted.subevent, found.product, found."isBlocked" or holder.id is not null as "isTaken",
           array(select claim.voucher
                   from ((select voucher_claim.id as voucher, voucher_claim.valid_until_at
                            from voucher_claim
                           where ${isClaimed(sql`voucher_claim`, sql` and ${isUsable(sql`voucher_claim`)}`)})
                          union all
                         (select held_claim.voucher, held_claim.valid_until_at
                            from held_claim
                           where ${isClaimed(sql`held_claim`)})) as claim
                  where ${isUnexpired(sql`claim`)}) as claimants
      from ${rowsAs("wanted", { guid: text, subevent: bigint.orNull }, seats)}
     cross join lateral (select seat.id, (seat.data ->> 'product')::bigint as product,
                                coalesce((seat.data -> 'blocked')::boolean, false) as "isBlocked"
                           from seat
                          where ${withKey(sql`seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0)`, sql`${organizer}, ${event}, wanted.guid, coalesce(wanted.subevent, 0)`)}
                          limit 1) as found
      left join lateral (select position.id
                           from position
                          where position.seat is not null
                            and position.taken_as is not null
                            and ${withKey(sql`position.organizer, position.event, position.seat`, sql`${organizer}, ${event}, found.id`)}
                          limit 1) as holder on true`);
}

export interface SeatedPosition {
  readonly id: number;
  readonly seat: number;
  /** An encoded Position. */
  readonly state: Uint8Array;
}

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
