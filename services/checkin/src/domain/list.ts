import type { CountedAs } from "./counted-as.ts";

/** What an organizer sets on a check-in list. */
export interface ListFields {
  readonly name: string;
  readonly allProducts: boolean;
  /** Stored but ignored where `allProducts` is set. */
  readonly limitProducts: readonly number[];
  /** Null: the list is for all dates. */
  readonly subevent: number | null;
  readonly includePending: boolean;
  readonly allowMultipleEntries: boolean;
  readonly allowEntryAfterExit: boolean;
  /** JSON text, stored byte for byte. */
  readonly rules: string;
  readonly exitAllAt: number | null;
  readonly addonMatch: boolean;
  readonly ignoreInStatistics: boolean;
  readonly considerTicketsUsed: boolean;
}

/** An independent record of who came in: a ticket on two lists is valid once on each. */
export interface CheckinList extends ListFields {
  readonly id: number;
}

/** The fields of a list that decide a scan. */
export type AdmissionTerms = Pick<
  ListFields,
  "allProducts" | "limitProducts" | "subevent" | "includePending" | "allowMultipleEntries" | "allowEntryAfterExit"
>;

/** Removes repeated products; the first occurrence keeps its place. */
export function withoutRepeats(limitProducts: readonly number[]): readonly number[] {
  return [...new Set(limitProducts)];
}

/** Returns whether tickets for this item are on the list. */
export function coversItem(list: Pick<ListFields, "allProducts" | "limitProducts">, item: number): boolean {
  return list.allProducts || list.limitProducts.includes(item);
}

/** Returns whether tickets for this date are on the list. */
export function coversDate(list: Pick<ListFields, "subevent">, subevent: number | null): boolean {
  return list.subevent === null || list.subevent === subevent;
}

/** Returns the order states whose tickets a list counts and shows. */
export function countedOn(list: Pick<ListFields, "includePending">): readonly CountedAs[] {
  return list.includePending ? ["paid", "pending_valid", "pending"] : ["paid", "pending_valid"];
}
