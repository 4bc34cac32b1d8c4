import { hash } from "node:crypto";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { ReserveVouchersRequest, ReserveVouchersResponse } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { decideReservation } from "../domain/decide-reservation.ts";
import { fault } from "../faults.ts";
import type { VoucherEvents } from "../report-events.ts";
import {
  findReservation,
  type ReservationKey,
  readClock,
  removeExpired,
  type StoredReservation,
  storeReservation,
} from "../store/reservations.ts";
import { lockByCode } from "../store/shop-vouchers.ts";
import { toWireAnswer } from "../wire/shop.ts";
import { findMarket } from "./find-market.ts";
import { invalidReservation, readAsks, readReservationKey } from "./read-asks.ts";

const second = 1000;
const day = 86_400_000;

/**
 * Reserves uses and budget of vouchers for a while: all or nothing. The id of the reservation, drawn by the shop, is an
 * idempotency key: a repeated request gets the stored answer.
 *
 * The locks of the vouchers serialize everything that takes uses of them, so sums that are read after the locks are
 * complete.
 */
export async function reserveVouchers(
  request: ReserveVouchersRequest,
  { db, events }: { readonly db: Db; readonly events: VoucherEvents },
): Promise<ReserveVouchersResponse> {
  const key = readReservationKey(request);
  const { lifetimeMs } = request;
  const asks = readAsks(key, request.uses);
  if (asks.length === 0) throw invalidReservation("uses", "A reservation has at least one use.");
  if (lifetimeMs < second || lifetimeMs > day)
    throw invalidReservation("lifetimeMs", "A reservation lives from a second to a day.");
  const content = hash("sha256", ReserveVouchersRequest.encode(request).finish(), "buffer");
  const codes = [...new Set(asks.map(({ code }) => code))];
  let taken = 0;
  const response = await db.transaction(async (tx) => {
    taken = 0;
    const locked = await lockByCode(tx, key, codes);
    const earlier = await findReservation(tx, key);
    if (earlier !== undefined) return answerAgain(earlier, content);
    await removeExpired(tx, key, locked);
    const now = await readClock(tx);
    const market = await findMarket(tx, key, { asks, now });
    if ([...market.vouchers.values()].some(({ id }) => !locked.includes(id)))
      throw fault("concurrent_change", "A voucher has got one of these codes just now; try again.", {
        retryAfterMs: 1000,
      });
    const { answers, held } = decideReservation(asks, market);
    const refused: ReserveVouchersResponse = { answers: answers.map(toWireAnswer), expiresAt: undefined };
    if (held === undefined) return refused;
    const expiresAt = now + lifetimeMs * 1000;
    const granted = { ...refused, expiresAt };
    const answer = ReserveVouchersResponse.encode(granted).finish();
    if (!(await storeReservation(tx, key, { request: content, answer, expiresAt, held })))
      return repeatAnswer(tx, key, content);
    taken = held.length;
    return granted;
  });
  if (taken > 0) events.usesReserved(key, taken);
  return response;
}

/** Another transaction has used the id in between. */
async function repeatAnswer(tx: Tx, key: ReservationKey, content: Uint8Array): Promise<ReserveVouchersResponse> {
  const stored = await findReservation(tx, key);
  if (stored === undefined) throw new Error("a reservation is stored, and is not");
  return answerAgain(stored, content);
}

function answerAgain({ state, request, answer, hasExpired }: StoredReservation, content: Uint8Array) {
  if (state === "released" || request === null || answer === null)
    throw fault("reservation_released", "This reservation was released; reserve again under another id.");
  if (Buffer.compare(request, content) !== 0)
    throw fault("reservation_differs", "Another request has used this id for a reservation.");
  if (state === "open" && hasExpired)
    throw fault("reservation_expired", "This reservation has expired; reserve again under another id.");
  return ReserveVouchersResponse.decode(answer);
}
