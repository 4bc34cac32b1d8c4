import { type AddError, notKnown, ofElement, type RecordErrors, refuseEach } from "@tessera/records/validate";
import type { Known } from "./known.ts";

interface Quota {
  readonly items: readonly number[];
  readonly variations: readonly number[];
  readonly subevent: number | null;
}

/** Warns about products of quotas that the event does not have, and about unlikely combinations. */
export function doubtQuotas<V extends { readonly data: Quota }>(values: readonly V[], known: Known): RecordErrors<V> {
  const itemsOf = new Map([...known.items].flatMap(([item, ofItem]) => [...ofItem].map((id) => [id, item] as const)));
  return refuseEach(values, ({ data }, addWarning) => {
    doubtProducts(data, { known, itemsOf }, addWarning);
    if (data.subevent === null && known.series === true)
      addWarning("subevent", "A quota of a series counts nothing without a date.");
    if (data.subevent !== null && !known.subevents.has(data.subevent)) {
      addWarning("subevent", notKnown(`subevent ${data.subevent}`));
    }
  });
}

/** A position with a variation matches by its variation alone, so an item is listed together with its variations. */
function doubtProducts(
  { items, variations }: Quota,
  { known, itemsOf }: { readonly known: Known; readonly itemsOf: ReadonlyMap<number, number> },
  addWarning: AddError,
): void {
  const listed = new Set(items);
  const accompanied = new Set(variations.map((variation) => itemsOf.get(variation)));
  for (const [index, item] of items.entries()) {
    const ofItem = known.items.get(item);
    if (ofItem === undefined) addWarning("items", ofElement(index, notKnown(`item ${item}`)));
    else if (ofItem.size > 0 && !accompanied.has(item)) {
      addWarning("items", ofElement(index, `Item ${item} has variations; list those that the quota counts.`));
    }
  }
  for (const [index, variation] of variations.entries()) {
    const item = itemsOf.get(variation);
    if (item === undefined) addWarning("variations", ofElement(index, notKnown(`variation ${variation}`)));
    else if (!listed.has(item)) {
      addWarning(
        "variations",
        ofElement(index, `Variation ${variation} belongs to item ${item}, which is not listed.`),
      );
    }
  }
}
