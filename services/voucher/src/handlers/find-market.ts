import type { Queryable } from "@tessera/kit/pg/database";
import type { Instant } from "@tessera/values";
import type { Ask, Market } from "../domain/offer-voucher.ts";
import type { EventKey } from "../store/keys.ts";
import { findShopCatalogue } from "../store/read-catalogue.ts";
import { findShopVouchers } from "../store/shop-vouchers.ts";

/** Reads all data for these asks: one statement for the vouchers, one for the event. */
export async function findMarket(
  db: Queryable,
  place: EventKey,
  { asks, now }: { readonly asks: readonly Ask[]; readonly now: Instant },
): Promise<Market> {
  const codes = new Set(asks.map(({ code }) => code));
  const seats = new Set(asks.flatMap(({ seat }) => seat ?? []));
  const found = await findShopVouchers(db, place, { codes: [...codes], seats: [...seats] });
  const vouchers = found.filter(({ code }) => codes.has(code));
  const quotas = [...new Set(vouchers.flatMap(({ quota }) => quota ?? []))];
  const catalogue = await findShopCatalogue(db, place, { products: asks, quotas });
  return {
    vouchers: new Map(vouchers.map((voucher) => [voucher.code, voucher])),
    claims: Map.groupBy(found, ({ seat }) => seat ?? ""),
    catalogue,
    now,
  };
}
