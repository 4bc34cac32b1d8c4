import type { KnownScope } from "@tessera/records/kind";

/** The entities that a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly layouts: Set<number>;
}

/** Those of them that exist here; items come from boxoffice, by the bus. */
export interface Known extends KnownScope {
  readonly items: ReadonlySet<number>;
  readonly layouts: ReadonlySet<number>;
}
