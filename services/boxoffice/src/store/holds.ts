import { type EntityKey, keysAs } from "@tessera/events/entity-key";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, type InputOf, rowsAs, text } from "@tessera/kit/pg/table";
import { isPlacedIn, withKey } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";
import { claimColumns } from "./voucher-claim-rows.ts";

export interface StoredHold {
  readonly isReleased: boolean;
  /** An encoded HoldCapacityResponse; null: it was released before the request arrived. */
  readonly answer: Uint8Array | null;
}

export function findHold(tx: Queryable, { organizer, event }: Scope, id: string): Promise<StoredHold | undefined> {
  return tx.maybeOne<StoredHold>(sql`
    select capacity_hold.is_released as "isReleased", capacity_hold.answer
      from capacity_hold
     where capacity_hold.organizer = ${organizer}
       and capacity_hold.event = ${event}
       and capacity_hold.id = ${id}::uuid`);
}

/** Stores the answer to a request for a hold. False: another transaction has released the hold. */
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

const heldColumns = { voucher: bigint, basedOn: bigint, usages: bigint, ...claimColumns };

/** Stores what the vouchers of a hold will take. */
export async function storeHeld(
  tx: Tx,
  { organizer, event }: Scope,
  { id, claims }: { readonly id: string; readonly claims: readonly InputOf<typeof heldColumns>[] },
): Promise<void> {
  await tx.run(sql`
    insert into held_claim (organizer, event, voucher, hold, based_on, item, variation, quota, subevent, usages,
                            valid_until_at, seat)
    select ${organizer}, ${event}, claim.voucher, ${id}::uuid, claim.based_on, claim.item, claim.variation, claim.quota,
           claim.subevent, claim.usages, claim.valid_until_at, claim.seat
      from ${rowsAs("claim", heldColumns, claims)}`);
}

/** Ends a hold, even if it was never requested. Waits for a transaction that is storing it. */
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

/** Locks the holds of vouchers, so that they do not end, and finds which vouchers have any. */
export async function lockHeld(tx: Tx, vouchers: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select held.organizer, held.event, held.voucher as id
      from ${keysAs("wanted", vouchers)}
     cross join lateral (
       select held_claim.organizer, held_claim.event, held_claim.voucher
         from held_claim
        where ${withKey(sql`held_claim.organizer, held_claim.event, held_claim.voucher`, sql`wanted.organizer, wanted.event, wanted.id`)}
          for no key update) as held`);
}

/** Each belongs to a request in progress. */
const mostOfOneVoucher = 10_000;

const endedColumns = { organizer: text, event: text, voucher: bigint, changed: bigint };

/**
 * Ends holds of vouchers that have a later state than the hold was to replace: that state or a later one is stored, so
 * the hold cannot be confirmed any more.
 */
export async function endHolds(tx: Tx, changes: readonly InputOf<typeof endedColumns>[]): Promise<void> {
  if (changes.length === 0) return;
  await tx.run(sql`
    with ended as materialized (
      select held.ctid
        from ${rowsAs("change", endedColumns, changes)}
       cross join lateral (
         select held_claim.ctid
           from held_claim
          where held_claim.based_on < change.changed
            and ${withKey(sql`held_claim.organizer, held_claim.event, held_claim.voucher`, sql`change.organizer, change.event, change.voucher`)}
          limit ${mostOfOneVoucher}) as held
    )
    delete from held_claim where ${isPlacedIn(sql`held_claim`, sql`ended`)}`);
}

/** Longer than any request, or the release of its leftovers, may take while voucher runs. */
const longestHold = sql`interval '1 day'`;

/**
 * Ends holds that were requested long before a rebuild began, whose cutoff is a time in microseconds: all facts of that
 * time have been published again. Such holds are left if voucher has lost its data.
 */
export function endLostHolds(tx: Tx, cutoff: number): Promise<number> {
  return tx.run(sql`
    delete from held_claim
     using capacity_hold
     where capacity_hold.organizer = held_claim.organizer
       and capacity_hold.event = held_claim.event
       and capacity_hold.id = held_claim.hold
       and capacity_hold.changed_at < least(${toTimestamp(cutoff)}::timestamptz, clock_timestamp()) - ${longestHold}`);
}

/** Few enough for one quick statement. */
export const mostForgotten = 5000;

/**
 * Deletes holds that ended more than a day ago: no request is that late. A hold that was neither confirmed nor released
 * stays. Skips locked rows, so replicas may run it concurrently. Returns how many.
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

/** Open holds, for the reconciliation. */
export const heldRows = sql`
  select distinct held_claim.organizer, held_claim.event, held_claim.hold as id, 0 as revision, '' as content
    from held_claim`;
