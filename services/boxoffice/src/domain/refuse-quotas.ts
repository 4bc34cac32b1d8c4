import { type AddError, notKnown, ofElement, type RecordErrors, refuseEach } from "@tessera/records/validate";
import type { Known } from "./known.ts";

interface Quota {
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevent: number | null;
}

/** Refuses quotas that name what the event does not have. */
export function refuseQuotas<V extends { readonly data: Quota }>(values: readonly V[], known: Known): RecordErrors<V> {
  const itemsOf = new Map([...known.items].flatMap(([item, ofItem]) => [...ofItem].map((id) => [id, item] as const)));
  return refuseEach(values, ({ data }, addError) => {
    validateProducts(data, { known, itemsOf }, addError);
    if (data.subevent === null && known.series === true) addError("subevent", "A quota of a series belongs to a date.");
    if (data.subevent !== null && !known.subevents.has(data.subevent)) {
      addError("subevent", notKnown(`subevent ${data.subevent}`));
    }
  });
}

/** A position with a variation is matched by it alone, so an item and its variations are listed together. */
function validateProducts(
  { items, variations }: Quota,
  { known, itemsOf }: { readonly known: Known; readonly itemsOf: ReadonlyMap<number, number> },
  addError: AddError,
): void {
  const listed = new Set(items);
  const accompanied = new Set(variations.map((variation) => itemsOf.get(variation)));
  for (const [index, item] of items.entries()) {
    const ofItem = known.items.get(item);
    if (ofItem === undefined) addError("items", ofElement(index, notKnown(`item ${item}`)));
    else if (ofItem.size > 0 && !accompanied.has(item)) {
      addError("items", ofElement(index, `Item ${item} has variations; list those that the quota counts.`));
    }
  }
  for (const [index, variation] of variations.entries()) {
    const item = itemsOf.get(variation);
    if (item === undefined) addError("variations", ofElement(index, notKnown(`variation ${variation}`)));
    else if (!listed.has(item)) {
      addError("variations", ofElement(index, `Variation ${variation} belongs to item ${item}, which is not listed.`));
    }
  }
}
