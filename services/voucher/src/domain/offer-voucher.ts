import type { Instant } from "@tessera/values";
import Big from "big.js";
import { findMismatch, type Restriction, type Wanted } from "./applies-to.ts";
import { leastUsages } from "./min-usages.ts";
import { priceWith } from "./price.ts";
import { findListedPrice, type ShopCatalogue } from "./shop-catalogue.ts";
import { isExpired, usagesLeft, type Voucher } from "./voucher.ts";

/** What a shop wants to sell with a code. */
export interface Ask extends Wanted {
  /** Normalized. */
  readonly code: string;
  /** The price without the voucher; null: the listed price. */
  readonly price: string | null;
}

/** The fields of a voucher that matter to shops. */
export interface ShopVoucher
  extends Omit<
    Voucher,
    | "blockQuota"
    | "allowIgnoreQuota"
    | "tag"
    | "comment"
    | "showHiddenItems"
    | "allAddonsIncluded"
    | "allBundlesIncluded"
    | "createdAt"
  > {
  /** The usages held by open reservations. */
  readonly reserved: number;
  readonly reservedBudget: string;
}

/** The data that asks are answered with. */
export interface Market {
  readonly vouchers: ReadonlyMap<string, ShopVoucher>;
  /** The vouchers for a seat, by its guid. */
  readonly claims: ReadonlyMap<string, readonly ShopVoucher[]>;
  readonly catalogue: ShopCatalogue;
  readonly now: Instant;
}

/** What earlier uses of the same reservation take of a voucher. */
export interface Taken {
  readonly uses: number;
  readonly budget: string;
}

export const nothingTaken: Taken = { uses: 0, budget: "0.00" };

export interface Offer {
  readonly voucher: number;
  readonly priceBefore: string;
  readonly price: string;
  /** Never below zero, and never above the rest of the budget. */
  readonly discount: string;
  readonly usesLeft: number;
  /** Null: unlimited. */
  readonly budgetLeft: string | null;
  readonly remainingMinimum: number;
}

export type RefusalReason =
  | "unknown_code"
  | "expired"
  | "used_up"
  | "reserved"
  | "too_many_uses"
  | "unknown_product"
  | "other_product"
  | "unknown_date"
  | "other_date"
  | "other_seat"
  | "seat_of_other_voucher"
  | "too_few_uses";

export interface Refusal {
  readonly reason: RefusalReason;
  readonly sentence: string;
}

export type Answer = { readonly offer: Offer } | { readonly refusal: Refusal };

/** Computes the price with a voucher, or the first reason why the voucher cannot be used. */
export function offerVoucher(ask: Ask, market: Market, taken: Taken = nothingTaken): Answer {
  const voucher = market.vouchers.get(ask.code);
  if (voucher === undefined) return refuse("unknown_code", "This event has no voucher with this code.");
  const refusal =
    findUsageRefusal(voucher, taken, market.now) ??
    findProductRefusal(ask, market.catalogue) ??
    findRestrictionRefusal(ask, voucher, market, "product") ??
    findDateRefusal(ask, market.catalogue) ??
    findRestrictionRefusal(ask, voucher, market, "date") ??
    findRestrictionRefusal(ask, voucher, market, "seat") ??
    findSeatRefusal(ask, voucher, market);
  return refusal ?? { offer: makeOffer(ask, voucher, { catalogue: market.catalogue, taken }) };
}

export function refuse(reason: RefusalReason, sentence: string): { readonly refusal: Refusal } {
  return { refusal: { reason, sentence } };
}

function findUsageRefusal(voucher: ShopVoucher, { uses }: Taken, now: Instant) {
  if (isExpired(voucher, now)) return refuse("expired", "This voucher has expired.");
  const unsold = usagesLeft(voucher);
  if (unsold === 0) return refuse("used_up", "This voucher is used up.");
  if (uses < unsold - voucher.reserved) return undefined;
  if (uses < unsold)
    return refuse("reserved", "What is left of this voucher is reserved by another cart; it may become free again.");
  return refuse("too_many_uses", `This voucher can be used only ${unsold === 1 ? "once" : `${unsold} times`} more.`);
}

function findProductRefusal({ item, variation }: Ask, { items }: ShopCatalogue) {
  const product = items.get(item);
  if (product === undefined) return refuse("unknown_product", "This event has no such product.");
  if (variation === null && product.hasVariations)
    return refuse("unknown_product", "This product is sold in variations: name one of them.");
  if (variation !== null && !product.variations.has(variation))
    return refuse("unknown_product", "This product has no such variation.");
  return undefined;
}

function findDateRefusal({ subevent }: Ask, { isSeries, dates }: ShopCatalogue) {
  if (subevent === null)
    return isSeries ? refuse("unknown_date", "This event is a series: name one of its dates.") : undefined;
  return dates.has(subevent) ? undefined : refuse("unknown_date", "This event has no such date.");
}

const reasons: Readonly<Record<Restriction, RefusalReason>> = {
  product: "other_product",
  date: "other_date",
  seat: "other_seat",
};

function findRestrictionRefusal(ask: Ask, voucher: ShopVoucher, { catalogue }: Market, restriction: Restriction) {
  const quota = voucher.quota === null ? undefined : catalogue.quotas.get(voucher.quota);
  if (findMismatch(voucher, ask, quota) !== restriction) return undefined;
  return refuse(reasons[restriction], `This voucher is for another ${restriction}.`);
}

/** A seat is blocked by another voucher for it that can still be used. */
function findSeatRefusal({ seat, subevent }: Ask, { id }: ShopVoucher, { claims, now }: Market) {
  const claimed = seat === null ? [] : (claims.get(seat) ?? []);
  const isKept = claimed.some(
    (other) => other.id !== id && other.subevent === subevent && !isExpired(other, now) && usagesLeft(other) > 0,
  );
  return isKept ? refuse("seat_of_other_voucher", "This seat is kept for another voucher.") : undefined;
}

function makeOffer(
  ask: Ask,
  voucher: ShopVoucher,
  { catalogue, taken }: { readonly catalogue: ShopCatalogue; readonly taken: Taken },
): Offer {
  const listed = new Big(ask.price ?? findListedPrice(ask, catalogue));
  const priceBefore = listed.toFixed(2);
  const budgetUsed = new Big(voucher.budgetUsed).plus(voucher.reservedBudget).plus(taken.budget).toFixed(2);
  const price = priceWith({ ...voucher, budgetUsed }, { price: priceBefore, places: catalogue.places });
  return {
    voucher: voucher.id,
    priceBefore,
    price,
    discount: notNegative(listed.minus(price)),
    usesLeft: usagesLeft(voucher) - voucher.reserved - taken.uses,
    budgetLeft: voucher.budget === null ? null : notNegative(new Big(voucher.budget).minus(budgetUsed)),
    remainingMinimum: leastUsages(voucher),
  };
}

function notNegative(amount: Big): string {
  return (amount.lt(0) ? new Big(0) : amount).toFixed(2);
}
