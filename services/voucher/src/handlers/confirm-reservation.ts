import type { Fault } from "@tessera/kit/fault";
import type { Db, Tx } from "@tessera/kit/pg/database";
import {
  type ConfirmReservationRequest,
  type ConfirmReservationResponse,
  ReserveVouchersResponse,
} from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import type { Held } from "../domain/decide-reservation.ts";
import { fault } from "../faults.ts";
import type { VoucherEvents } from "../report-events.ts";
import { nameOf } from "../store/keys.ts";
import {
  findEnded,
  findHeldVouchers,
  lockReservation,
  lockUses,
  markConfirmed,
  type ReservationKey,
  readClock,
  type StoredReservation,
  takeHeld,
} from "../store/reservations.ts";
import { lockVouchers } from "../store/stored-vouchers.ts";
import { addUses, readUses, type StoredUse } from "../store/uses.ts";
import { moveCounts } from "../uses/move-counts.ts";
import { readReservationKey } from "./read-asks.ts";

/**
 * Turns the uses of a reservation into uses of the sold positions. They have revision 0, so any state of the position
 * replaces them, and a state that came first stays.
 */
export async function confirmReservation(
  request: ConfirmReservationRequest,
  { db, events }: { readonly db: Db; readonly events: VoucherEvents },
): Promise<ConfirmReservationResponse> {
  const key = readReservationKey(request);
  const { positions } = request;
  if (positions.some((id) => id <= 0 || !Number.isSafeInteger(id)) || new Set(positions).size < positions.length)
    throw invalidPositions("Each use has a position of its own.");
  let confirmed = 0;
  await db.transaction(async (tx) => {
    confirmed = 0;
    await lockUses(tx, { alone: [], shared: [key] });
    // Lock order: vouchers, then the reservation, as in the deletion of their event.
    const wanted = await findHeldVouchers(tx, key);
    const vouchers = await lockVouchers(tx, wanted);
    const reservation = await lockReservation(tx, key);
    if (isConfirmed(reservation, positions)) return;
    // Read after the locks: uses that were counted as free cannot be confirmed now.
    const held = await takeHeld(tx, key);
    if (held.some(({ voucher }) => !wanted.some(({ id }) => id === voucher)))
      throw fault("concurrent_change", "This reservation is only being made; try again.", { retryAfterMs: 1000 });
    const { answers } = ReserveVouchersResponse.decode(reservation?.answer ?? new Uint8Array());
    if (held.length < answers.length)
      throw fault("reservation_expired", "This reservation has expired; reserve again under another id.");
    if (held.length !== positions.length)
      throw invalidPositions(`This reservation has ${held.length} uses: name a position for each.`);
    const uses = await makeUses(tx, key, { held, positions, now: await readClock(tx) });
    if ((await addUses(tx, uses)) < uses.length)
      throw fault("concurrent_change", "One of the positions is changing; try again.", { retryAfterMs: 1000 });
    await moveCounts(tx, new Map(vouchers.map((voucher) => [nameOf(voucher), voucher])), {
      before: [],
      after: uses,
    });
    await markConfirmed(tx, key, positions);
    confirmed = held.length;
  });
  if (confirmed > 0) events.reservationConfirmed(key, confirmed);
  return {};
}

/** Whether the reservation is confirmed already; throws if it cannot be. */
function isConfirmed(reservation: StoredReservation | undefined, positions: readonly number[]): boolean {
  if (reservation === undefined)
    throw fault("reservation_not_found", "The event has no such reservation; it may have ended long ago.");
  const { state } = reservation;
  if (state === "released")
    throw fault("reservation_released", "This reservation was released; reserve again under another id.");
  if (state === "open") return false;
  const isSame =
    reservation.positions.length === positions.length &&
    reservation.positions.every((position, index) => position === positions[index]);
  if (!isSame) throw fault("reservation_differs", "This reservation was confirmed for other positions.");
  return true;
}

function invalidPositions(message: string): Fault {
  return fault("invalid_positions", message, { fields: { positions: [message] } });
}

async function makeUses(
  tx: Tx,
  { organizer, event }: ReservationKey,
  {
    held,
    positions,
    now,
  }: { readonly held: readonly Held[]; readonly positions: readonly number[]; readonly now: number },
): Promise<StoredUse[]> {
  const known = await readUses(
    tx,
    positions.map((position) => ({ organizer, event, position })),
  );
  const sold = known.filter(({ revision }) => revision === 0).map(({ position }) => position);
  if (sold.length > 0) throw invalidPositions(`Sold with another reservation: ${sold.join(", ")}.`);
  const counted = new Set([
    ...known.map(({ position }) => position),
    ...(await findEnded(tx, { organizer, event }, positions)),
  ]);
  return held.flatMap(({ voucher, budget }, index) => {
    const position = positions[index] ?? 0;
    if (counted.has(position)) return [];
    return [{ organizer, event, position, revision: 0, voucher, counts: true, budget, since: now }];
  });
}
