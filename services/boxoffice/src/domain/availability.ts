/** How a position counts towards capacity. */
export type TakenAs = "paid" | "pending";

/** How many positions of one product take capacity on one date, by payment state. */
export interface Taken {
  readonly subevent: number | null;
  readonly item: number;
  readonly variation: number | null;
  readonly takenAs: TakenAs;
  readonly positions: number;
}

export interface QuotaLimits {
  /** Null: unlimited. */
  readonly size: number | null;
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevent: number | null;
  readonly closed: boolean;
}

export interface Availability {
  /**
   * `gone`: paid positions take everything. `ordered`: unpaid positions take the rest, or the quota is closed.
   * `reserved`: vouchers take the rest.
   */
  readonly state: "available" | "reserved" | "ordered" | "gone";
  /** By positions and vouchers. */
  readonly taken: number;
  /** By positions of paid and of pending orders. */
  readonly paid: number;
  readonly pending: number;
  readonly byVouchers: number;
  /** Null: unlimited. Negative: overbooked. A closed quota sells nothing, whatever is left. */
  readonly left: number | null;
}

/** Finds how a position counts; null: not at all. */
export function takenAs({
  canceled,
  orderStatus,
}: {
  readonly canceled: boolean;
  readonly orderStatus: "n" | "p" | "e" | "c";
}): TakenAs | null {
  if (canceled) return null;
  if (orderStatus === "p") return "paid";
  return orderStatus === "n" ? "pending" : null;
}

/**
 * Computes the rest of a quota from what positions and vouchers take.
 *
 * A position with a variation matches by its variation alone, one without by its item, and either only on the quota's
 * own date.
 */
export function computeAvailability(quota: QuotaLimits, taken: Iterable<Taken>, byVouchers = 0): Availability {
  const items = new Set(quota.items);
  const variations = new Set(quota.variations);
  const sums = { paid: 0, pending: 0 };
  for (const { subevent, item, variation, takenAs: as, positions } of taken) {
    if (subevent !== quota.subevent) continue;
    if (variation === null ? items.has(item) : variations.has(variation)) sums[as] += positions;
  }
  const ordered = sums.paid + sums.pending;
  const all = ordered + byVouchers;
  const left = quota.size === null ? null : quota.size - all;
  return { state: stateOf(quota, { paid: sums.paid, ordered, all }), taken: all, ...sums, byVouchers, left };
}

function stateOf(
  { size, closed }: QuotaLimits,
  { paid, ordered, all }: { readonly paid: number; readonly ordered: number; readonly all: number },
): Availability["state"] {
  if (size !== null && size <= paid) return "gone";
  if (closed || (size !== null && size <= ordered)) return "ordered";
  return size !== null && size <= all ? "reserved" : "available";
}
