import type { Tx } from "@tessera/kit/pg/database";
import { type AddError, notKnown, refuseEach } from "@tessera/records/validate";
import type { SeatData } from "@tessera/resources/records/seat";
import { takenAs } from "../domain/availability.ts";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import { seatKey } from "../domain/seat-key.ts";
import * as catalogue from "../store/catalogue-tables.ts";
import type { Mentioned } from "../store/references.ts";
import { drawSeatIds } from "../store/seats.ts";
import type { OrderData, PositionData } from "./order-data.ts";
import type { Seat } from "./seat.ts";

interface WithOrder {
  readonly data: OrderData;
}

/** Collects the seats that a position names. */
export function mentionSeat({ seat, subevent }: PositionData, mentioned: Mentioned): void {
  if (seat === null) return;
  mentioned.seatPlaces.push({ guid: typeof seat === "string" ? seat : seat.seat_guid, subevent });
  if (typeof seat === "object" && seat.id !== null) mentioned.seats.add(seat.id);
}

/** The seat of a position, if any, as its guid and date in one key. */
export function keyOfSeat({ seat, subevent }: PositionData): string | undefined {
  if (seat === null) return undefined;
  return seatKey(typeof seat === "string" ? seat : seat.seat_guid, subevent);
}

/** The existing seats, and the seats that orders of the run have described so far. */
export class SeatPlan {
  readonly #keys: Set<string>;
  readonly #keyOfId: Map<number, string>;

  constructor({ seats }: Known) {
    this.#keyOfId = new Map([...seats.values()].map(({ id, guid, subevent }) => [id, seatKey(guid, subevent)]));
    this.#keys = new Set(this.#keyOfId.values());
  }

  /** Adds errors for seats that neither exist nor are described, or are described with the id of another. */
  validate({ positions }: OrderData, addError: AddError): void {
    const described = new Map<number, string>();
    for (const [index, position] of positions.entries()) {
      const { seat } = position;
      const key = keyOfSeat(position);
      if (seat === null || key === undefined || this.#keys.has(key)) continue;
      if (typeof seat === "string") addError(`positions.${index}.seat`, notKnown("a seat with this guid"));
    }
    for (const { index, id, key } of this.#broughtBy(positions)) {
      const known = this.#keyOfId.get(id) ?? described.get(id);
      if (known !== undefined && known !== key) addError(`positions.${index}.seat`, `Seat ${id} is another seat.`);
      described.set(id, key);
    }
  }

  admit({ positions }: OrderData): void {
    for (const { id, key } of this.#broughtBy(positions)) this.#keyOfId.set(id, key);
    for (const position of positions) {
      const key = keyOfSeat(position);
      if (key !== undefined) this.#keys.add(key);
    }
  }

  /** The ids of the seats that positions describe; an existing or earlier described seat keeps its id. */
  *#broughtBy(positions: OrderData["positions"]): Generator<{ index: number; id: number; key: string }> {
    const described = new Set<string>();
    for (const [index, position] of positions.entries()) {
      const { seat } = position;
      const key = keyOfSeat(position);
      if (seat === null || typeof seat === "string" || key === undefined) continue;
      if (this.#keys.has(key) || described.has(key)) continue;
      described.add(key);
      if (seat.id !== null) yield { index, id: seat.id, key };
    }
  }
}

/**
 * Finds positions that would share a seat after the whole run: orders may swap seats. Canceled positions, and positions
 * of canceled or expired orders, have released their seats.
 */
export function refuseSharedSeats<V extends WithOrder>(
  values: readonly V[],
  known: Known,
): Map<V, Record<string, string[]>> {
  const moving = new Set(
    values.flatMap(({ data }) => [...(known.orders.get(data.code) ?? []), ...data.positions.map(({ id }) => id)]),
  );
  const taken = new Set<string>();
  for (const { guid, subevent, heldBy } of known.seats.values()) {
    if (heldBy !== null && !moving.has(heldBy)) taken.add(seatKey(guid, subevent));
  }
  return refuseEach(
    values,
    ({ data }, addError) => {
      const own = new Set<string>();
      for (const [index, key] of seatsTakenBy(data)) {
        if (taken.has(key) || own.has(key)) addError(`positions.${index}.seat`, "Another position has this seat.");
        own.add(key);
      }
    },
    ({ data }) => {
      for (const [, key] of seatsTakenBy(data)) taken.add(key);
    },
  );
}

/** By the index of the position that takes the seat. */
function seatsTakenBy({ status, positions }: OrderData): [number, string][] {
  return positions.flatMap((position, index): [number, string][] => {
    const key = keyOfSeat(position);
    const takes = takenAs({ canceled: position.canceled, orderStatus: status }) !== null;
    return key === undefined || !takes ? [] : [[index, key]];
  });
}

/** Finds the seats of orders, and creates those that only the orders describe. */
export async function findOrCreateSeats(
  tx: Tx,
  scope: Scope,
  { values, known }: { readonly values: readonly WithOrder[]; readonly known: Known },
): Promise<ReadonlyMap<string, Seat>> {
  const seats = new Map(
    [...known.seats.values()].map(({ guid, subevent, data }) => [seatKey(guid, subevent), data as Seat]),
  );
  const described = new Map<string, SeatData & Omit<Seat, "id">>();
  for (const position of values.flatMap(({ data }) => data.positions)) {
    const key = keyOfSeat(position);
    const { seat, subevent, item } = position;
    if (key === undefined || seat === null || typeof seat === "string" || seats.has(key) || described.has(key))
      continue;
    described.set(key, { ...seat, subevent, product: item, blocked: false });
  }
  const numbered = [...described].flatMap(([key, data]) =>
    data.id === null ? [] : [[key, { ...data, id: data.id }] as const],
  );
  await createSeats(tx, scope, numbered);
  const unnumbered = [...described].filter(([, { id }]) => id === null);
  const ids = await drawSeatIds(tx, scope, unnumbered.length);
  const drawn = unnumbered.flatMap(([key, data], index) => {
    const id = ids[index];
    return id === undefined ? [] : [[key, { ...data, id }] as const];
  });
  await createSeats(tx, scope, drawn);
  return new Map([...seats, ...numbered, ...drawn]);
}

async function createSeats(tx: Tx, scope: Scope, seats: readonly (readonly [string, Seat])[]): Promise<void> {
  if (seats.length === 0) return;
  const rows = seats.map(([, seat]) => ({ key: String(seat.id), document: JSON.stringify(seat) }));
  await catalogue.upsert(tx, "seat", { scope, rows });
}
