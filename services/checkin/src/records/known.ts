import type { KnownScope } from "@tessera/records/kind";
import type { KnownReferences } from "../domain/check-list.ts";

/** The entities that a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly subevents: Set<number>;
}

/** Those of them that exist here. They come from boxoffice, by the bus. */
export type Known = KnownScope & KnownReferences;
