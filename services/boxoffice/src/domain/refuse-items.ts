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

/** The variations of the event's items after the change. Items may bundle each other. */
function joinVariations(values: readonly { readonly data: Item }[], known: Known): Map<number, ReadonlySet<number>> {
  const variationsOf = new Map(known.items);
  for (const { data } of values) variationsOf.set(data.id, new Set(data.variations.map(({ id }) => id)));
  return variationsOf;
}

/** Finds variations that an item has twice, or that belong to another item. */
export function refuseItems<V extends { readonly data: Item }>(values: readonly V[], known: Known): RecordErrors<V> {
  // Existing items come first, so a variation stays with its item.
  const itemOf = new Map<number, number>();
  for (const [item, variations] of joinVariations(values, known)) {
    for (const id of variations) if (!itemOf.has(id)) itemOf.set(id, item);
  }
  return refuseEach(values, ({ data }, addError) => {
    const seen = new Set<number>();
    for (const [index, { id }] of data.variations.entries()) {
      if (seen.has(id)) addError(`variations.${index}.id`, `Variation ${id} occurs twice.`);
      else if (itemOf.get(id) !== data.id)
        addError(`variations.${index}.id`, `Variation ${id} belongs to another item.`);
      seen.add(id);
    }
  });
}

/** Warns about references of items that the event does not have. */
export function doubtItems<V extends { readonly data: Item }>(values: readonly V[], known: Known): RecordErrors<V> {
  const variationsOf = joinVariations(values, known);
  return refuseEach(values, ({ data }, addWarning) => {
    if (data.category !== null && !known.categories.has(data.category)) {
      addWarning("category", notKnown(`category ${data.category}`));
    }
    if (data.tax_rule !== null && !known.taxRules.has(data.tax_rule)) {
      addWarning("tax_rule", notKnown(`tax rule ${data.tax_rule}`));
    }
    for (const [index, { addon_category }] of data.addons.entries()) {
      if (!known.categories.has(addon_category)) {
        addWarning(`addons.${index}.addon_category`, notKnown(`category ${addon_category}`));
      }
    }
    for (const [index, { bundled_item, bundled_variation }] of data.bundles.entries()) {
      const variations = variationsOf.get(bundled_item);
      if (variations === undefined) addWarning(`bundles.${index}.bundled_item`, notKnown(`item ${bundled_item}`));
      else if (bundled_variation !== null && !variations.has(bundled_variation)) {
        addWarning(`bundles.${index}.bundled_variation`, `Item ${bundled_item} has no variation ${bundled_variation}.`);
      }
    }
  });
}
