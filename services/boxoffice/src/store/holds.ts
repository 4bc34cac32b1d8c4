import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, type InputOf, rowsAs, text } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";
import { claimColumns } from "./voucher-claims.ts";

/** A hold that was asked for, or released. */
export interface StoredHold {
  readonly isReleased: boolean;
  /** An encoded HoldCapacityResponse; null: nothing was asked before the release. */
  readonly answer: Uint8Array | null;
}

/** Finds a hold by its id. */
export function findHold(tx: Queryable, { organizer, event }: Scope, id: string): Promise<StoredHold | undefined> {
  return tx.maybeOne<StoredHold>(sql`
    select capacity_hold.is_released as "isReleased", capacity_hold.answer
      from capacity_hold
     where capacity_hold.organizer = ${organizer}
       and capacity_hold.event = ${event}
       and capacity_hold.id = ${id}::uuid`);
}

/** Stores the answer to a request for a hold. False: another transaction released it meanwhile. */
export async function storeAnswer(
  tx: Tx,
  { organizer, event }: Scope,
  { id, answer }: { readonly id: string; readonly answer: Uint8Array },
): Promise<boolean> {
  const stored = await tx.run(sql`
    insert into capacity_hold (organizer, event, id, answer)
    values (${organizer}, ${event}, ${id}::uuid, ${answer})
        on conflict (organizer, event, id) do nothing`);
  return stored > 0;
}

const heldColumns = { voucher: bigint, ...claimColumns };

/** Stores what the vouchers of a hold will take. */
export async function storeHeld(
  tx: Tx,
  { organizer, event }: Scope,
  { id, claims }: { readonly id: string; readonly claims: readonly InputOf<typeof heldColumns>[] },
): Promise<void> {
  await tx.run(sql`
    insert into held_claim (organizer, event, voucher, hold, item, variation, quota, subevent, amount, valid_until_at, seat)
    select ${organizer}, ${event}, claim.voucher, ${id}::uuid, claim.item, claim.variation, claim.quota, claim.subevent,
           claim.amount, claim.valid_until_at, claim.seat
      from ${rowsAs("claim", heldColumns, claims)}`);
}

/** Ends a hold, also one that was never asked for. A transaction that is storing it is waited for. */
export async function release(tx: Tx, { organizer, event }: Scope, id: string): Promise<void> {
  await tx.run(sql`
    insert into capacity_hold (organizer, event, id, is_released)
    values (${organizer}, ${event}, ${id}::uuid, true)
        on conflict (organizer, event, id) do update
       set is_released = true,
           changed_at = clock_timestamp()`);
  await tx.run(sql`
    delete from held_claim
     where held_claim.hold = ${id}::uuid
       and held_claim.organizer = ${organizer}
       and held_claim.event = ${event}`);
}

const confirmedColumns = { organizer: text, event: text, voucher: bigint, hold: text };

/** Deletes what vouchers held under these holds: their confirmed claims have taken its place. */
export async function deleteConfirmed(tx: Tx, confirmed: readonly InputOf<typeof confirmedColumns>[]): Promise<void> {
  if (confirmed.length === 0) return;
  await tx.run(sql`
    delete from held_claim
     using ${rowsAs("confirmed", confirmedColumns, confirmed)}
     where held_claim.hold = confirmed.hold::uuid
       and held_claim.organizer = confirmed.organizer
       and held_claim.event = confirmed.event
       and held_claim.voucher = confirmed.voucher`);
}

/** Few enough for one quick statement. */
export const mostForgotten = 5000;

/**
 * Forgets holds that ended more than a day ago: no request is that late. One that neither was confirmed nor released stays.
 * Skips locked rows, so any number of replicas may do it at a time. Returns how many it forgot.
 */
export function forgetEndedHolds(db: Queryable): Promise<number> {
  return db.run(sql`
    delete from capacity_hold
     where (organizer, event, id) in (
             select ended.organizer, ended.event, ended.id
               from capacity_hold as ended
              where ended.changed_at < clock_timestamp() - interval '1 day'
                and not exists (select
                                  from held_claim
                                 where held_claim.hold = ended.id
                                   and held_claim.organizer = ended.organizer
                                   and held_claim.event = ended.event)
              order by ended.changed_at
              limit ${mostForgotten}
                for update of ended skip locked)`);
}
