/** Makes a record of an event. */
export type OfEvent = (kind: string, data: Readonly<Record<string, unknown>>) => object;

/** An item of the catalogue and its price. */
export interface Sold {
  readonly id: number;
  readonly price: string;
}

/** What both events of the demo have in common: settings, tax and categories. */
export function* commonRecords(ofEvent: OfEvent, categories: readonly Readonly<Record<string, string>>[]) {
  yield ofEvent("event_settings", { locale: "en", locales: ["en", "de"], ticket_download: true });
  yield ofEvent("tax_rule", { id: 1, name: { en: "VAT" }, rate: "19.00", price_includes_tax: true });
  for (const [index, name] of categories.entries())
    yield ofEvent("category", { id: index + 1, name, position: index + 1, is_addon: index > 0 });
}

/** The record of an item. The first category holds tickets, the others add-ons. */
export function itemRecord(
  { id, price }: Sold,
  more: {
    readonly name: Readonly<Record<string, string>>;
    readonly category: number;
    readonly addons?: readonly object[];
    readonly variations?: readonly object[];
  },
): Readonly<Record<string, unknown>> {
  return {
    id,
    default_price: price,
    position: id,
    tax_rule: 1,
    admission: more.category === 1,
    active: true,
    variations: [],
    addons: [],
    bundles: [],
    ...more,
  };
}
