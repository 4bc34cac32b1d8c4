import type { Instant } from "@tessera/values";
import Big from "big.js";

export interface Taken {
  readonly counts: boolean;
  /** The part of the budget that the position takes. */
  readonly budget: string;
}

export interface Use extends Taken {
  readonly voucher: number;
  /** When the position got this state. */
  readonly since: Instant;
  /** The revision of the position's state; 0: a shop has confirmed it, and no state has arrived yet. */
  readonly revision: number;
}

/** A use that has ended or changed. */
export interface FormerUse extends Taken {
  readonly voucher: number;
  readonly since: Instant;
  readonly until: Instant;
}

export interface UseChange {
  readonly revision: number;
  readonly since: Instant;
  /** Null: the position uses no voucher any more, or is deleted. */
  readonly taken: (Taken & Pick<Use, "voucher">) | null;
}

/** The difference between the uses of a voucher and its record. Money has two places. */
export interface Sums {
  readonly redeemed: number;
  readonly budgetUsed: string;
}

/** What a position is, and was, for vouchers. */
export interface History {
  readonly current: Use | undefined;
  readonly former: readonly FormerUse[];
}

/**
 * Applies a change to the uses of a position. A different use ends the current one at its `since`; what began behind that was
 * none. If the change claims to be older than a current use that only a shop has confirmed, it begins now; and, as clocks differ,
 * no later use begins before the moment of a record in the future.
 */
export function followUse(
  { current, former }: History,
  { revision, since: told, taken }: UseChange,
  { now, countedAsOf }: { readonly now: Instant; readonly countedAsOf: Instant },
): History {
  const known = current?.revision === 0 && taken !== null ? asSold(current, { since: told, taken }) : current;
  if (known !== undefined && taken !== null && isSame(known, taken) && known.since <= told)
    return { current: { ...known, revision }, former };
  const isTold =
    known === undefined || (told > known.since ? countedAsOf <= now : told < known.since && known.revision > 0);
  const since = isTold ? told : Math.max(now, known.since, countedAsOf);
  return {
    current: taken === null ? undefined : { ...taken, revision, since },
    former: [...former, ...(known === undefined ? [] : [toFormer(known, since)])].flatMap((use) => endAt(use, since)),
  };
}

/** What a former use is if another one begins at a moment. */
function endAt(use: FormerUse, at: Instant): readonly FormerUse[] {
  if (use.since >= at) return [];
  return [use.until <= at ? use : { ...use, until: at }];
}

/** A confirmed use gets its time and amount from the first state of its position. */
function asSold(
  confirmed: Use,
  { since, taken }: { readonly since: Instant; readonly taken: Taken & Pick<Use, "voucher"> },
): Use {
  const isOf = confirmed.voucher === taken.voucher && confirmed.counts === taken.counts;
  return { ...confirmed, since, budget: isOf ? taken.budget : confirmed.budget };
}

function isSame(use: Use, taken: NonNullable<UseChange["taken"]>): boolean {
  return use.voucher === taken.voucher && use.counts === taken.counts && use.budget === taken.budget;
}

function toFormer({ voucher, counts, budget, since }: Use, until: Instant): FormerUse {
  return { voucher, counts, budget, since, until };
}

/**
 * Sums the difference between the uses of one voucher and its record, which contains the uses of its moment as they
 * were then. Null: the voucher has no record.
 */
export function sumOf(uses: Iterable<Use | FormerUse>, countedAsOf: Instant | null): Sums {
  let redeemed = 0;
  let budget = new Big(0);
  for (const use of uses) {
    const isFormer = "until" in use;
    const isContained = countedAsOf !== null && use.since < countedAsOf && (!isFormer || countedAsOf <= use.until);
    const times = Number(!isFormer) - Number(isContained);
    if (use.counts) redeemed += times;
    budget = budget.plus(new Big(use.budget).times(times));
  }
  return { redeemed, budgetUsed: budget.toFixed(2) };
}

/** The difference between the sums of two versions of the uses of a voucher. */
export function differenceOf(before: Sums, after: Sums): Sums {
  return {
    redeemed: after.redeemed - before.redeemed,
    budgetUsed: new Big(after.budgetUsed).minus(before.budgetUsed).toFixed(2),
  };
}

export function isNothing({ redeemed, budgetUsed }: Sums): boolean {
  return redeemed === 0 && new Big(budgetUsed).eq(0);
}

/** Returns the counts of a voucher. Never below zero: a record may have stated too little. */
export function countOf(
  { baseRedeemed, baseBudgetUsed }: { readonly baseRedeemed: number; readonly baseBudgetUsed: string },
  { redeemed, budgetUsed }: Sums,
): { readonly redeemed: number; readonly budgetUsed: string } {
  const budget = new Big(baseBudgetUsed).plus(budgetUsed);
  return {
    redeemed: Math.max(0, baseRedeemed + redeemed),
    budgetUsed: (budget.lt(0) ? new Big(0) : budget).toFixed(2),
  };
}
