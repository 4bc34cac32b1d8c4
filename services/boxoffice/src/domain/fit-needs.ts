import { seatKey } from "./seat-key.ts";
import { type Claim, greatest, type QuotaMatch, takesOf } from "./voucher-claims.ts";

/** The capacity that a voucher needs. */
export interface Need extends Omit<Claim, "amount"> {
  readonly voucher: number;
  /** All usages, redeemed ones included; 0: the voucher takes no quota. */
  readonly usages: number;
  /** The revision of the state to be replaced; 0: no state. */
  readonly basedOn: number;
  /** Whether there must be a quota, with this much left. */
  readonly isChecked: boolean;
  /** After this instant the voucher takes nothing. */
  readonly validUntil: number | null;
  /** The guid of a seat that it claims. */
  readonly seat: string | null;
}

/** Why a need cannot be held. */
export type Problem =
  | { readonly kind: "no_quota" | "no_such_seat" | "seat_taken" | "seat_of_other_item" }
  | { readonly kind: "too_little_left"; readonly quota: number };

interface QuotaLeft {
  readonly id: number;
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevent: number | null;
  readonly closed: boolean;
  /** Null: unlimited. */
  readonly left: number | null;
}

/** Whether quotas decide about a need at an instant: it takes of them, or requires one. */
export function dependsOnQuotas(need: Pick<Need, "usages" | "isChecked" | "validUntil">, now: number): boolean {
  return (need.usages > 0 || need.isChecked) && isValid(need, now);
}

function isValid({ validUntil }: Pick<Need, "validUntil">, now: number): boolean {
  return validUntil === null || validUntil >= now;
}

/**
 * Finds the needs that quotas have no room for, by index, with the reason. Each need leaves less to later ones.
 *
 * `claims` are the present claims of these vouchers, which count once. A need that takes no more of a quota than before
 * does not depend on it.
 */
export function findQuotaProblems<Q extends QuotaLeft>(
  needs: readonly Need[],
  {
    match,
    claims,
    uses,
    now,
  }: {
    readonly match: QuotaMatch<Q>;
    readonly claims: ReadonlyMap<number, readonly Claim[]>;
    /** The usages of each voucher. */
    readonly uses: ReadonlyMap<number, number>;
    readonly now: number;
  },
): Map<number, Problem> {
  const problems = new Map<number, Problem>();
  const promised = new Map<number, number>();
  for (const [place, need] of needs.entries()) {
    if (!dependsOnQuotas(need, now)) continue;
    const affected = match.affectedBy(need);
    if (need.isChecked && affected.length === 0) problems.set(place, { kind: "no_quota" });
    const before = claims.get(need.voucher) ?? [];
    const amount = Math.max(0, need.usages - (uses.get(need.voucher) ?? 0));
    const wanted = affected
      .map((quota) => ({ quota, more: amount - greatest(before, quota, match) }))
      .filter(({ more }) => more > 0);
    const short = need.isChecked
      ? wanted.find(({ quota, more }) => !hasRoom(quota, (promised.get(quota.id) ?? 0) + more))
      : undefined;
    if (short !== undefined) {
      problems.set(place, { kind: "too_little_left", quota: short.quota.id });
      continue;
    }
    for (const { quota, more } of wanted) {
      if (takesOf(need, quota)) promised.set(quota.id, (promised.get(quota.id) ?? 0) + more);
    }
  }
  return problems;
}

function hasRoom({ closed, left }: QuotaLeft, amount: number): boolean {
  return !closed && (left === null || left >= amount);
}

/** A seat, and its conflicts with a claim. */
export interface SeatState {
  readonly guid: string;
  readonly subevent: number | null;
  readonly product: number | null;
  /** Blocked, or taken by a position. */
  readonly isTaken: boolean;
  /** The vouchers that claim it. */
  readonly claimants: readonly number[];
}

/** Finds the needs whose seats are taken, by index, with the reason. Of several needs for a seat the first gets it. */
export function findSeatProblems(
  needs: readonly Need[],
  { seats, now }: { readonly seats: Iterable<SeatState>; readonly now: number },
): Map<number, Problem> {
  const known = new Map([...seats].map((seat) => [seatKey(seat.guid, seat.subevent), seat]));
  const problems = new Map<number, Problem>();
  const promised = new Set<string>();
  for (const [place, need] of needs.entries()) {
    if (need.seat === null) continue;
    const key = seatKey(need.seat, need.subevent);
    const seat = known.get(key);
    if (seat === undefined) problems.set(place, { kind: "no_such_seat" });
    else if (seat.isTaken || promised.has(key) || seat.claimants.some((voucher) => voucher !== need.voucher))
      problems.set(place, { kind: "seat_taken" });
    else if (need.item !== null && need.item !== seat.product) problems.set(place, { kind: "seat_of_other_item" });
    if (isValid(need, now)) promised.add(key);
  }
  return problems;
}
