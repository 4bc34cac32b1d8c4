import { type Localized, pick } from "@tessera/values";

interface Named {
  readonly id: number;
  readonly name: Localized;
  readonly internalName: string | null;
  readonly variations: readonly { readonly id: number; readonly value: Localized }[];
}

/** The names of products as staff knows them: that of the organizer's own, else that of the shop. */
export interface ItemNames {
  ofItem(item: number): string | null;
  ofVariation(item: number, variation: number): string | null;
}

export function nameItems(items: readonly Named[], locale: string): ItemNames {
  const names = new Map(
    items.map((item) => [
      item.id,
      {
        name: item.internalName || pick(item.name, locale),
        variations: new Map(item.variations.map(({ id, value }) => [id, pick(value, locale)])),
      },
    ]),
  );
  return {
    ofItem: (item) => names.get(item)?.name ?? null,
    ofVariation: (item, variation) => names.get(item)?.variations.get(variation) ?? null,
  };
}
