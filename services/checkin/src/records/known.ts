import type { KnownScope } from "@tessera/records/kind";
import type { KnownReferences } from "../domain/check-list.ts";

/** What a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly subevents: Set<number>;
}

/** What of it exists here: it comes from boxoffice, by the bus. */
export type Known = KnownScope & KnownReferences;
