import type { Instant } from "@tessera/values";
import Big from "big.js";

/** What a position takes of its voucher. */
export interface Taken {
  readonly counts: boolean;
  /** Of the budget. */
  readonly budget: string;
}

/** A position that names a voucher. */
export interface Use extends Taken {
  readonly voucher: number;
  /** From when on it is as it is. */
  readonly since: Instant;
  /** Of the state of the position; 0: a shop has confirmed it, and no state has arrived yet. */
  readonly revision: number;
}

/** What a position was for a voucher. */
export interface FormerUse extends Taken {
  readonly voucher: number;
  readonly since: Instant;
  readonly until: Instant;
}

/** What becomes of a position. */
export interface UseChange {
  readonly revision: number;
  readonly since: Instant;
  /** Null: it names no voucher any more, or is gone. */
  readonly taken: (Taken & Pick<Use, "voucher">) | null;
}

/** What is known of the use of a position. */
export interface KnownUse {
  readonly current: Use | undefined;
  /** Until when it was one, as far as that is still kept. */
  readonly endedAt: Instant | undefined;
}

/** What uses of a voucher add to what its record says. Money has two places. */
export interface Sums {
  readonly redeemed: number;
  readonly budgetUsed: string;
  /** How many count of positions that have arrived. */
  readonly present: number;
}

/**
 * Follows a position. What it was ends when it becomes something else, and stays what it was until then: a change that says
 * it began before what is known here begins now, and behind a record whose moment is yet to come, as clocks differ.
 */
export function followUse(
  { current, endedAt }: KnownUse,
  { revision, since: told, taken }: UseChange,
  { now, countedAsOf }: { readonly now: Instant; readonly countedAsOf: Instant },
): { readonly current: Use | undefined; readonly former: FormerUse | undefined } {
  const known = current?.revision === 0 && taken !== null ? asSold(current, { since: told, taken }) : current;
  if (known !== undefined && taken !== null && isSame(known, taken))
    return { current: { ...known, revision }, former: undefined };
  const last = known?.since ?? endedAt;
  const isLater = last !== undefined && told > last && countedAsOf <= now;
  const since = last === undefined || isLater ? told : Math.max(now, last, countedAsOf);
  return {
    current: taken === null ? undefined : { ...taken, revision, since },
    former: known !== undefined && known.since < since ? toFormer(known, since) : undefined,
  };
}

/** Its shop has told what it sold; when that was, and for how much, its first state says. */
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
 * Sums what uses of one voucher add to what its record says, which contains the uses that were there at its moment, as they
 * were then. Null: it has no record.
 */
export function sumOf(uses: Iterable<Use | FormerUse>, countedAsOf: Instant | null): Sums {
  let [redeemed, present] = [0, 0];
  let budget = new Big(0);
  for (const use of uses) {
    const isFormer = "until" in use;
    const isContained = countedAsOf !== null && use.since < countedAsOf && (!isFormer || countedAsOf <= use.until);
    const times = Number(!isFormer) - Number(isContained);
    if (use.counts) redeemed += times;
    if (use.counts && !isFormer && use.revision > 0) present += 1;
    budget = budget.plus(new Big(use.budget).times(times));
  }
  return { redeemed, budgetUsed: budget.toFixed(2), present };
}

/** What is added where uses of one voucher become others. */
export function differenceOf(before: Sums, after: Sums): Sums {
  return {
    redeemed: after.redeemed - before.redeemed,
    budgetUsed: new Big(after.budgetUsed).minus(before.budgetUsed).toFixed(2),
    present: after.present - before.present,
  };
}

export function isNothing({ redeemed, budgetUsed, present }: Sums): boolean {
  return redeemed === 0 && present === 0 && new Big(budgetUsed).eq(0);
}

/** Returns what a voucher counts. Never below zero: a record may have said too little. */
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
