import type { DatePrices } from "../store/copies.ts";

interface Override {
  readonly item?: number;
  readonly variation?: number;
  readonly price: string | null;
}

interface DateDocument {
  readonly item_price_overrides?: readonly Override[];
  readonly variation_price_overrides?: readonly Override[];
}

/** Reads the prices in the resource of a date, which is JSON in UTF-8. */
export function readDatePrices(document: Uint8Array): DatePrices {
  if (document.length === 0) return { items: {}, variations: {} };
  const date = JSON.parse(new TextDecoder().decode(document)) as DateDocument;
  return {
    items: byId(date.item_price_overrides, "item"),
    variations: byId(date.variation_price_overrides, "variation"),
  };
}

function byId(overrides: readonly Override[] = [], name: "item" | "variation"): Record<string, string> {
  return Object.fromEntries(
    overrides.flatMap(({ [name]: id, price }) => (price === null ? [] : [[String(id), price]])),
  );
}
