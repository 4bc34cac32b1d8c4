import type { Instant } from "@tessera/values";
import Big from "big.js";

/** What a position takes of the voucher that it names. */
export interface Taking {
  readonly voucher: number;
  /** Whether it uses the voucher: a canceled one only names it. */
  readonly counts: boolean;
  readonly budget: string | null;
}

export interface Use extends Taking {
  readonly since: Instant;
}

/** Returns whether two states of a position take the same of the same voucher. */
export function takesSame(one: Taking, other: Taking): boolean {
  return one.voucher === other.voucher && one.counts === other.counts && budgetOf(one).eq(budgetOf(other));
}

function budgetOf({ counts, budget }: Taking): Big {
  return new Big((counts ? budget : null) ?? 0);
}

/**
 * Returns when a use changes: when its shop says, but always after its last change, if the position was
 * known before. As clocks differ, it does not change before the moment of a record in the future.
 */
export function momentOf(
  { told, last }: { readonly told: Instant; readonly last: Instant | undefined },
  { now, countedAsOf }: { readonly now: Instant; readonly countedAsOf: Instant },
): Instant {
  if (last === undefined || (told > last && countedAsOf <= now)) return told;
  return Math.max(now, last + 1, countedAsOf);
}

/** The uses of a voucher that change at a moment. A change before the moment of its record is part of the record. */
export interface Move {
  readonly at: Instant;
  readonly before: Taking | undefined;
  readonly after: Taking | undefined;
}

/** Sums what changes add to the records of vouchers, whose moments are given, by the ids of the vouchers. */
export function sumAdded(
  moves: readonly Move[],
  countedAsOf: ReadonlyMap<number, Instant | null>,
): ReadonlyMap<number, number> {
  const added = new Map<number, number>();
  for (const { at, before, after } of moves) {
    for (const [use, uses] of [
      [before, -1],
      [after, 1],
    ] as const) {
      const isContained = use !== undefined && at < (countedAsOf.get(use.voucher) ?? Number.NEGATIVE_INFINITY);
      if (use?.counts && !isContained) added.set(use.voucher, (added.get(use.voucher) ?? 0) + uses);
    }
  }
  return added;
}
