import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { declareLock, takeLocks } from "@tessera/kit/pg/locks";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, decimal, rowsAs } from "@tessera/kit/pg/table";
import type { Held } from "../domain/decide-reservation.ts";
import { type EntityKey, type EventKey, keysAs } from "./keys.ts";
import type { PositionKey } from "./uses.ts";

/** The id of a reservation, drawn by its shop. */
export interface ReservationKey extends EventKey {
  readonly reservation: string;
}

export interface StoredReservation {
  readonly state: "open" | "confirmed" | "released";
  /** The hash of the answered request, and the answer; null: the reservation was released before it arrived. */
  readonly request: Uint8Array | null;
  readonly answer: Uint8Array | null;
  readonly positions: readonly number[];
  readonly hasExpired: boolean;
}

const selected = sql`
           voucher_reservation.state, voucher_reservation.request, voucher_reservation.answer,
           voucher_reservation.positions, voucher_reservation.expires_at <= clock_timestamp() as "hasExpired"`;

const isThis = ({ organizer, event, reservation }: ReservationKey) => sql`
           voucher_reservation.organizer = ${organizer}
       and voucher_reservation.event = ${event}
       and voucher_reservation.reservation = ${reservation}::uuid`;

export async function findReservation(db: Queryable, key: ReservationKey): Promise<StoredReservation | undefined> {
  return db.maybeOne<StoredReservation>(sql`select ${selected} from voucher_reservation where ${isThis(key)}`);
}

/** Locks a reservation: it is either confirmed or released. */
export async function lockReservation(tx: Queryable, key: ReservationKey): Promise<StoredReservation | undefined> {
  return tx.maybeOne<StoredReservation>(
    sql`select ${selected} from voucher_reservation where ${isThis(key)} for no key update`,
  );
}

/** Reads the clock of the database, which decides when reservations expire; it advances within a transaction. */
export async function readClock(db: Queryable): Promise<number> {
  const { now } = await db.one<{ now: number }>(sql`select clock_timestamp() as now`);
  return now;
}

/** Stores an answered reservation. False: another transaction has used its id. */
export async function storeReservation(
  tx: Queryable,
  { organizer, event, reservation }: ReservationKey,
  {
    request,
    answer,
    expiresAt,
    held,
  }: {
    readonly request: Uint8Array;
    readonly answer: Uint8Array;
    readonly expiresAt: number;
    readonly held: readonly Held[];
  },
): Promise<boolean> {
  const expires = sql`${toTimestamp(expiresAt)}::timestamptz`;
  const stored = await tx.run(sql`
    insert into voucher_reservation (organizer, event, reservation, state, request, answer, expires_at)
    values (${organizer}, ${event}, ${reservation}::uuid, 'open', ${request}, ${answer}, ${expires})
        on conflict (organizer, event, reservation) do nothing`);
  if (stored === 0) return false;
  await tx.run(sql`
    insert into reserved_use (organizer, event, reservation, place, voucher, budget, expires_at)
    select ${organizer}, ${event}, ${reservation}::uuid, held.ord, held.voucher, held.budget, ${expires}
      from ${rowsAs("held", { voucher: bigint, budget: decimal }, held, { isNumbered: true })}`);
  return true;
}

/** Deletes and returns what a reservation still holds, in the order of its uses. */
export async function takeHeld(
  tx: Queryable,
  { organizer, event, reservation }: ReservationKey,
): Promise<readonly Held[]> {
  const rows = await tx.many<Held & { readonly place: number }>(sql`
    delete from reserved_use
     where reserved_use.organizer = ${organizer}
       and reserved_use.event = ${event}
       and reserved_use.reservation = ${reservation}::uuid
       and reserved_use.expires_at > clock_timestamp()
    returning reserved_use.place, reserved_use.voucher, reserved_use.budget`);
  return rows.sort((one, other) => one.place - other.place);
}

/** Reads which vouchers a reservation holds. */
export async function findHeldVouchers(
  db: Queryable,
  { organizer, event, reservation }: ReservationKey,
): Promise<EntityKey[]> {
  return db.many<EntityKey>(sql`
    select distinct reserved_use.organizer, reserved_use.event, reserved_use.voucher as id
      from reserved_use
     where reserved_use.organizer = ${organizer}
       and reserved_use.event = ${event}
       and reserved_use.reservation = ${reservation}::uuid`);
}

export async function markConfirmed(tx: Queryable, key: ReservationKey, positions: readonly number[]): Promise<void> {
  await tx.run(sql`
    update voucher_reservation
       set state = 'confirmed',
           positions = ${positions}::bigint[]
     where ${isThis(key)}`);
}

/** Marks a reservation as released, even if it never arrived; waits for one being stored. False: it is confirmed. */
export async function markReleased(tx: Queryable, { organizer, event, reservation }: ReservationKey): Promise<boolean> {
  const marked = await tx.run(sql`
    insert into voucher_reservation (organizer, event, reservation, state, expires_at)
    values (${organizer}, ${event}, ${reservation}::uuid, 'released', clock_timestamp())
        on conflict (organizer, event, reservation) do update
       set state = 'released'
     where voucher_reservation.state <> 'confirmed'`);
  return marked > 0;
}

/**
 * Removes the expired holds of locked vouchers: they count as free, so they must not be confirmed by a clock set back.
 */
export async function removeExpired(
  tx: Queryable,
  { organizer, event }: EventKey,
  vouchers: readonly number[],
): Promise<void> {
  await tx.run(sql`
    delete from reserved_use
     where reserved_use.organizer = ${organizer}
       and reserved_use.event = ${event}
       and reserved_use.voucher = any(${vouchers}::bigint[])
       and reserved_use.expires_at <= clock_timestamp()`);
}

/** Counts how many uses of a voucher open reservations hold. */
export async function countReserved(db: Queryable, { organizer, event, id }: EntityKey): Promise<number> {
  const { reserved } = await db.one<{ reserved: number }>(sql`
    select count(*) as reserved
      from reserved_use
     where reserved_use.organizer = ${organizer}
       and reserved_use.event = ${event}
       and reserved_use.voucher = ${id}
       and reserved_use.expires_at > clock_timestamp()`);
  return reserved;
}

const usesLock = declareLock("tessera voucher uses");

/**
 * Takes the lock on uses of an event until the transaction ends. Lock order: this lock, then vouchers. Vouchers
 * serialize their own changes, but a missing voucher or use cannot be locked. So imports, and deletions that a
 * confirmation must not miss, take it exclusively; all others share it.
 */
export async function lockUses(
  tx: Tx,
  { alone, shared }: { readonly alone: readonly EventKey[]; readonly shared: readonly EventKey[] },
): Promise<void> {
  const toLocks = (places: readonly EventKey[]) =>
    new Map(places.map(({ organizer, event }) => [`${organizer}/${event}`, usesLock(organizer, event)]));
  const exclusive = toLocks(alone);
  const others = [...toLocks(shared)].filter(([place]) => !exclusive.has(place)).map(([, lock]) => lock);
  await takeLocks(tx, { alone: [...exclusive.values()], shared: others });
}

/**
 * Notes positions whose use has ended, in events with carts: the reservation that sold them may be confirmed only now.
 * Of a position that came and went between two batches, nothing else is known.
 */
export async function noteEnded(tx: Queryable, ended: readonly PositionKey[]): Promise<void> {
  if (ended.length === 0) return;
  const keys = ended.map(({ organizer, event, position }) => ({ organizer, event, id: position }));
  await tx.run(sql`
    insert into ended_use (organizer, event, position)
    select ended.organizer, ended.event, ended.id
      from ${keysAs("ended", keys)}
     where exists (select from reserved_use
                    where reserved_use.organizer = ended.organizer
                      and reserved_use.event = ended.event)
     order by ended.organizer collate "C", ended.event collate "C", ended.id
        on conflict (organizer, event, position) do nothing`);
}

/** Finds which of these positions have lost their use. */
export async function findEnded(
  db: Queryable,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<Set<number>> {
  const rows = await db.many<{ position: number }>(sql`
    select ended_use.position
      from ended_use
     where ended_use.organizer = ${organizer}
       and ended_use.event = ${event}
       and ended_use.position = any(${positions}::bigint[])`);
  return new Set(rows.map(({ position }) => position));
}

/** How many rows of each table one call removes. */
export const mostForgotten = 1000;

/** A repeated call gets the stored answer for this long after the end of its reservation. */
const keptDays = 7;

/** Deletes a batch of expired rows; returns the largest number of deleted rows of a table. */
export async function forgetReservations(db: Queryable): Promise<number> {
  const old = sql`now() - ${keptDays} * interval '1 day'`;
  const uses = await db.run(sql`
    delete from reserved_use
     where (reserved_use.organizer, reserved_use.event, reserved_use.reservation, reserved_use.place) in (
             select expired.organizer, expired.event, expired.reservation, expired.place
               from reserved_use as expired
              where expired.expires_at <= now()
              order by expired.expires_at
              limit ${mostForgotten}
                for update skip locked)`);
  const reservations = await db.run(sql`
    delete from voucher_reservation
     where (voucher_reservation.organizer, voucher_reservation.event, voucher_reservation.reservation) in (
             select ended.organizer, ended.event, ended.reservation
               from voucher_reservation as ended
              where ended.expires_at < ${old}
              order by ended.expires_at
              limit ${mostForgotten}
                for update skip locked)`);
  const positions = await db.run(sql`
    delete from ended_use
     where (ended_use.organizer, ended_use.event, ended_use.position) in (
             select ended.organizer, ended.event, ended.position
               from ended_use as ended
              where ended.ended_at < ${old}
              order by ended.ended_at
              limit ${mostForgotten}
                for update skip locked)`);
  return Math.max(uses, reservations, positions);
}
