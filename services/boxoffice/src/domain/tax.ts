import Big from "big.js";

/** A tax rule without its exceptions for customers. */
export interface TaxRule {
  readonly id: number;
  /** In percent. */
  readonly rate: string;
  readonly code: string | null;
  /** Whether listed prices include the tax. */
  readonly includesTax: boolean;
}

/** The amounts of a position. */
export interface Money {
  /** Including tax. */
  readonly price: string;
  readonly taxRate: string;
  readonly taxValue: string;
  readonly taxCode: string | null;
  readonly taxRule: number | null;
}

/** Amounts are shown with this many places, even if the currency has fewer. */
const shownPlaces = 2;

/** Splits the tax off a listed price, or adds it. Halves are rounded up, to the places of the currency. */
export function addTax(listed: string, rule: TaxRule | null, places: number): Money {
  const round = (amount: Big) => amount.round(places, Big.roundHalfUp);
  const show = (amount: Big) => amount.toFixed(Math.max(places, shownPlaces));
  const base = round(new Big(listed));
  if (rule === null)
    return { price: show(base), taxRate: "0.00", taxValue: show(new Big(0)), taxCode: null, taxRule: null };
  const { id: taxRule, rate: taxRate, code: taxCode, includesTax } = rule;
  const gross = includesTax ? base : round(base.times(Big(100).plus(taxRate)).div(100));
  const net = includesTax ? round(base.times(100).div(Big(100).plus(taxRate))) : base;
  return { price: show(gross), taxRate, taxValue: show(gross.minus(net)), taxCode, taxRule };
}
