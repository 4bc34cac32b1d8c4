import type { Brought, KnownScope } from "@tessera/records/kind";
import type { KnownReferences } from "../domain/check-voucher.ts";

/** What a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly variations: Set<number>;
  readonly quotas: Set<number>;
  readonly subevents: Set<number>;
  readonly codes: Set<string>;
}

/** What of it exists here: it comes from boxoffice, by the bus. */
export interface Known extends KnownScope, Omit<KnownReferences, "series"> {
  /** The voucher of each code. */
  readonly codes: ReadonlyMap<string, number>;
}

/** What others may know of a voucher that is validated only. */
export type BroughtVoucher = Brought & { readonly data: { readonly code: string } };
