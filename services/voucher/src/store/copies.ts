import { bigint, bigints, boolean, copyTable, document, json } from "@tessera/kit/pg/table";
import { entityKey } from "./keys.ts";

/** The prices on a date, by product, where they differ from those of the products. */
export interface DatePrices {
  readonly items: Readonly<Record<string, string>>;
  readonly variations: Readonly<Record<string, string>>;
}

/** Copies of the entities that vouchers refer to. */
export const subevents = copyTable("subevent", { key: entityKey, columns: { prices: json<DatePrices>() } });

export const categories = copyTable("category", { key: entityKey, columns: { isAddon: boolean } });

export const items = copyTable("item", {
  key: entityKey,
  columns: { category: bigint.orNull, variations: bigints, document },
});

export const quotas = copyTable("quota", {
  key: entityKey,
  columns: { items: bigints, variations: bigints, subevent: bigint.orNull },
});
