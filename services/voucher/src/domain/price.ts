import Big from "big.js";
import type { Voucher } from "./voucher.ts";

/** The fields of a voucher that decide a price. */
export type PriceTerms = Pick<Voucher, "priceMode" | "value" | "budget" | "budgetUsed">;

/** Money has two places, also in currencies with more. */
const mostPlaces = 2;

/**
 * Computes the price with a voucher, rounded half up to the places of the currency.
 *
 * The price is never below zero, and the discount never exceeds the rest of the budget.
 */
export function priceWith(
  { priceMode, value, budget, budgetUsed }: PriceTerms,
  { price, places }: { readonly price: string; readonly places: number },
): string {
  const listed = new Big(price);
  if (priceMode === "none" || value === null) return listed.toFixed(mostPlaces);
  const smallest = Math.min(places, mostPlaces);
  const changed = computers[priceMode](listed, new Big(value));
  const reduced = atLeast(changed, new Big(0)).round(smallest, Big.roundHalfUp);
  if (budget === null) return reduced.toFixed(mostPlaces);
  const left = atLeast(new Big(budget).minus(budgetUsed), new Big(0));
  if (listed.minus(reduced).lte(left)) return reduced.toFixed(mostPlaces);
  // Rounded up, so that the discount cannot exceed the rest of the budget.
  const capped = listed.minus(left).round(smallest, Big.roundUp);
  return (capped.gt(listed) ? listed : capped).toFixed(mostPlaces);
}

const computers: Readonly<Record<"set" | "subtract" | "percent", (price: Big, value: Big) => Big>> = {
  set: (_price, value) => value,
  subtract: (price, value) => price.minus(value),
  percent: (price, value) => price.times(new Big(100).minus(value)).div(100),
};

function atLeast(amount: Big, least: Big): Big {
  return amount.lt(least) ? least : amount;
}
