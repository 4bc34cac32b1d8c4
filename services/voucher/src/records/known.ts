import type { KnownScope } from "@tessera/records/kind";
import type { KnownReferences } from "../domain/check-voucher.ts";

/** What a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly variations: Set<number>;
  readonly quotas: Set<number>;
  readonly subevents: Set<number>;
}

/** What of it exists here: it comes from boxoffice, by the bus. */
export type Known = KnownScope & Omit<KnownReferences, "series">;
