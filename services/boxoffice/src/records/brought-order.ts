import { takenAs } from "../domain/availability.ts";
import type { Known } from "../domain/known.ts";
import { findMissing } from "./left-out-positions.ts";
import type { OrderData } from "./order-data.ts";
import type { BroughtHere } from "./recall.ts";

/** The fields of a merely validated order that other records are checked against. */
export function bringOrder(order: OrderData, known: Known): BroughtHere<"order"> {
  const positions = order.positions.map(({ id, secret, seat, subevent, canceled }) => ({
    id,
    secret,
    seat: seat === null ? null : { ...(typeof seat === "string" ? { id: null, seat_guid: seat } : seat), subevent },
    takesSeat: takenAs({ canceled, orderStatus: order.status }) !== null,
  }));
  const given = findMissing(order, known.orders);
  const seats = positions.flatMap(({ seat }) => (seat === null ? [] : [seat.seat_guid]));
  return {
    names: [...positions.map(({ id }) => id), ...given, ...seats],
    data: {
      given,
      changedAt: order.last_modified,
      positions: positions.map(({ id, secret, seat, takesSeat }) => ({
        id,
        secret,
        seat: seat && { id: seat.id, guid: seat.seat_guid, subevent: seat.subevent, isTaken: takesSeat },
      })),
    },
  };
}
