/** What of a check-in list decides a scan. */
export interface AdmissionTerms {
  readonly allProducts: boolean;
  /** Ignored where `allProducts` is set. */
  readonly limitProducts: readonly number[];
  /** Null: the list is for all dates. */
  readonly subevent: number | null;
  readonly includePending: boolean;
  readonly allowMultipleEntries: boolean;
  readonly allowEntryAfterExit: boolean;
}

/** Returns whether tickets for this item are on the list. */
export function coversItem(list: Pick<AdmissionTerms, "allProducts" | "limitProducts">, item: number): boolean {
  return list.allProducts || list.limitProducts.includes(item);
}

/** A list without a date is for tickets of every date. */
export function coversDate(list: Pick<AdmissionTerms, "subevent">, subevent: number | null): boolean {
  return list.subevent === null || list.subevent === subevent;
}
