import type { Instant } from "@tessera/values";
import Big from "big.js";

/** What a position takes of its voucher. */
export interface Taken {
  readonly counts: boolean;
  /** Of the budget. */
  readonly budget: string;
}

/** A position that was bought with a voucher. */
export interface Use extends Taken {
  readonly voucher: number;
  /** When its order was placed. */
  readonly placed: Instant;
  /** The part of it that the record of the voucher contains. */
  readonly baseCounts: boolean;
  readonly baseBudget: string;
}

/** What a record says of the uses of a voucher. */
export interface Baseline {
  /** It contains the orders before this moment; null: there is no record. */
  readonly countedAsOf: Instant | null;
}

/** Uses, and money with two places. */
export interface Uses {
  readonly redeemed: number;
  readonly budgetUsed: string;
}

/** Returns whether the record of a voucher contains the orders of that moment. */
function isContained(placed: Instant, { countedAsOf }: Baseline): boolean {
  return countedAsOf !== null && placed < countedAsOf;
}

/**
 * Makes the use of a position of which nothing is known yet. If the record of its voucher contains its order, it contains
 * the position as it is now.
 */
export function firstUse(use: Taken & Pick<Use, "voucher" | "placed">, baseline: Baseline | undefined): Use {
  const isKnown = baseline !== undefined && isContained(use.placed, baseline);
  return { ...use, baseCounts: isKnown && use.counts, baseBudget: isKnown ? use.budget : "0.00" };
}

/** Makes the use of a position that a shop has sold, and of which no state has arrived yet. */
export function confirmedUse(use: Omit<Taken, "counts"> & Pick<Use, "voucher" | "placed">): Use {
  return { ...use, counts: true, baseCounts: false, baseBudget: "0.00" };
}

/**
 * Makes the use of a position whose first state arrives after a shop has confirmed it. A record that was applied in between
 * may contain it as it was confirmed.
 */
export function takeOver(
  use: Taken & Pick<Use, "voucher" | "placed">,
  { confirmed, baseline }: { readonly confirmed: Use; readonly baseline: Baseline | undefined },
): Use {
  const isContainedAlready =
    confirmed.voucher === use.voucher &&
    confirmed.baseCounts &&
    baseline !== undefined &&
    isContained(use.placed, baseline);
  return isContainedAlready ? { ...confirmed, ...use } : firstUse(use, baseline);
}

/** Returns what uses add to what the record of their voucher says. */
export function sumOf(uses: Iterable<Use>): Uses {
  let redeemed = 0;
  let budget = new Big(0);
  for (const { counts, budget: used, baseCounts, baseBudget } of uses) {
    redeemed += Number(counts) - Number(baseCounts);
    budget = budget.plus(used).minus(baseBudget);
  }
  return { redeemed, budgetUsed: budget.toFixed(2) };
}

/** Adds what some uses add now, and takes off what they added before. Never below zero: a record may have said too little. */
export function moveUses(current: Uses, { before, after }: { readonly before: Uses; readonly after: Uses }): Uses {
  const budget = new Big(current.budgetUsed).plus(after.budgetUsed).minus(before.budgetUsed);
  return {
    redeemed: Math.max(0, current.redeemed + after.redeemed - before.redeemed),
    budgetUsed: (budget.lt(0) ? new Big(0) : budget).toFixed(2),
  };
}
