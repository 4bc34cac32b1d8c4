import { notKnown, type RecordErrors, refuseEach } from "@tessera/records/validate";
import type { Known } from "./known.ts";

interface Item {
  readonly id: number;
  readonly category: number | null;
  readonly tax_rule: number | null;
  readonly variations: readonly { readonly id: number }[];
  readonly addons: readonly { readonly addon_category: number }[];
  readonly bundles: readonly { readonly bundled_item: number; readonly bundled_variation: number | null }[];
}

/** Refuses items that name what the event does not have. They may bundle each other. */
export function refuseItems<V extends { readonly data: Item }>(values: readonly V[], known: Known): RecordErrors<V> {
  const variationsOf = new Map(known.items);
  for (const { data } of values) variationsOf.set(data.id, new Set(data.variations.map(({ id }) => id)));
  // Items that were there before come first, so a variation stays with the item it has.
  const itemOf = new Map<number, number>();
  for (const [item, variations] of variationsOf) {
    for (const id of variations) if (!itemOf.has(id)) itemOf.set(id, item);
  }

  return refuseEach(values, ({ data }, addError) => {
    if (data.category !== null && !known.categories.has(data.category)) {
      addError("category", notKnown(`category ${data.category}`));
    }
    if (data.tax_rule !== null && !known.taxRules.has(data.tax_rule)) {
      addError("tax_rule", notKnown(`tax rule ${data.tax_rule}`));
    }
    const seen = new Set<number>();
    for (const [index, { id }] of data.variations.entries()) {
      if (seen.has(id)) addError(`variations.${index}.id`, `Variation ${id} occurs twice.`);
      else if (itemOf.get(id) !== data.id)
        addError(`variations.${index}.id`, `Variation ${id} belongs to another item.`);
      seen.add(id);
    }
    for (const [index, { addon_category }] of data.addons.entries()) {
      if (!known.categories.has(addon_category)) {
        addError(`addons.${index}.addon_category`, notKnown(`category ${addon_category}`));
      }
    }
    for (const [index, { bundled_item, bundled_variation }] of data.bundles.entries()) {
      const variations = variationsOf.get(bundled_item);
      if (variations === undefined) addError(`bundles.${index}.bundled_item`, notKnown(`item ${bundled_item}`));
      else if (bundled_variation !== null && !variations.has(bundled_variation)) {
        addError(`bundles.${index}.bundled_variation`, `Item ${bundled_item} has no variation ${bundled_variation}.`);
      }
    }
  });
}
