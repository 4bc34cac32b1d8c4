import type { AdmissionTerms } from "@tessera/admission";
import type { CountedAs } from "./counted-as.ts";

/** What an organizer sets on a check-in list. */
export interface ListFields extends AdmissionTerms {
  readonly name: string;
  /** JSON text, stored byte for byte. */
  readonly rules: string;
  readonly exitAllAt: number | null;
  readonly addonMatch: boolean;
  readonly ignoreInStatistics: boolean;
  readonly considerTicketsUsed: boolean;
  /** From so many persons inside on, the board warns. */
  readonly softLimit: number | null;
  /** With so many persons inside, further entries are refused unless forced. */
  readonly hardLimit: number | null;
  /** Lists that a visitor leaves by entering here. */
  readonly takesFrom: readonly number[];
}

/** An independent record of who came in: a ticket on two lists is valid once on each. */
export interface CheckinList extends ListFields {
  readonly id: number;
}

/** Removes repeated ids; the first occurrence keeps its place. */
export function withoutRepeats(ids: readonly number[]): readonly number[] {
  return [...new Set(ids)];
}

/** Returns the order states whose tickets a list counts and shows. */
export function countedOn(list: Pick<ListFields, "includePending">): readonly CountedAs[] {
  return list.includePending ? ["paid", "pending_valid", "pending"] : ["paid", "pending_valid"];
}
