import { notKnown, type RecordErrors, refuseEach } from "@tessera/records/validate";
import type { Known } from "./known.ts";
import { seatKey } from "./seat-key.ts";

interface Seat {
  readonly id: number;
  readonly seat_guid: string;
  readonly subevent: number | null;
  readonly product: number | null;
}

/** Refuses seats that conflict with each other or with unchanged ones. */
export function refuseSeats<V extends { readonly data: Seat }>(left: readonly V[], known: Known): RecordErrors<V> {
  const sent = new Set(left.map(({ data }) => data.id));
  const owners = new Map<string, number>();
  for (const { id, guid, subevent } of known.seats.values()) if (!sent.has(id)) owners.set(seatKey(guid, subevent), id);
  for (const { data } of left)
    if (!owners.has(seatKey(data.seat_guid, data.subevent)))
      owners.set(seatKey(data.seat_guid, data.subevent), data.id);

  return refuseEach(left, ({ data }, addError) => {
    const owner = owners.get(seatKey(data.seat_guid, data.subevent));
    if (owner !== data.id) addError("seat_guid", `Seat ${owner} has this guid.`);
    if (data.product !== null && !known.items.has(data.product)) addError("product", notKnown(`item ${data.product}`));
    if (data.subevent === null && known.series === true) addError("subevent", "A seat of a series belongs to a date.");
    if (data.subevent !== null && !known.subevents.has(data.subevent)) {
      addError("subevent", notKnown(`subevent ${data.subevent}`));
    }
  });
}
