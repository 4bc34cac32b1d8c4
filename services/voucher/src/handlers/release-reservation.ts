import type { Db } from "@tessera/kit/pg/database";
import type {
  ReleaseReservationRequest,
  ReleaseReservationResponse,
} from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { fault } from "../faults.ts";
import type { VoucherEvents } from "../report-events.ts";
import { requireEvent } from "../store/events.ts";
import { markReleased, takeHeld } from "../store/reservations.ts";
import { readReservationKey } from "./read-asks.ts";

/** Releases what a reservation holds. If the reservation arrives after its release, it holds nothing. */
export async function releaseReservation(
  request: ReleaseReservationRequest,
  { db, events }: { readonly db: Db; readonly events: VoucherEvents },
): Promise<ReleaseReservationResponse> {
  const key = readReservationKey(request);
  const released = await db.transaction(async (tx) => {
    await requireEvent(tx, key);
    if (!(await markReleased(tx, key)))
      throw fault("reservation_confirmed", "This reservation is confirmed: cancel the order instead.");
    return takeHeld(tx, key);
  });
  if (released.length > 0) events.reservationReleased(key, released.length);
  return {};
}
