import { type EntityKey, keysAs } from "@tessera/events/entity-key";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, type InputOf, rowsAs, text } from "@tessera/kit/pg/table";
import { isPlacedIn, withKey } from "@tessera/kit/pg/with-key";
import type { Scope } from "../domain/scope.ts";
import { claimColumns } from "./voucher-claim-rows.ts";

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

/** Locks what is held for vouchers, so that it does not end meanwhile, and finds for which there is something. */
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

/** Each is of a request that is under way. */
const mostOfOneVoucher = 10_000;

const endedColumns = { organizer: text, event: text, voucher: bigint, changed: bigint };

/**
 * Ends holds for vouchers that have a later state than the hold was to replace: it is that state or one behind it, or the
 * hold can no longer be confirmed.
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

/** Longer than any request, or the release of what it has left, may take while voucher runs. */
const longestHold = sql`interval '1 day'`;

/**
 * Ends holds that were asked for long before a rebuild began, whose cutoff is a time in microseconds: all facts of that
 * time have come again. They are left where voucher lost what it knew of them.
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

/** Holds that have not ended, for a comparison. */
export const heldRows = sql`
  select distinct held_claim.organizer, held_claim.event, held_claim.hold as id, 0 as revision, '' as content
    from held_claim`;
