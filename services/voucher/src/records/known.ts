import type { Brought, KnownScope } from "@tessera/records/kind";
import type { KnownReferences } from "../domain/check-voucher.ts";

/** The entities that a run of records refers to. */
export interface Mentioned {
  readonly items: Set<number>;
  readonly variations: Set<number>;
  readonly quotas: Set<number>;
  readonly subevents: Set<number>;
  readonly codes: Set<string>;
}

/** Those of them that exist here. They come from boxoffice, by the bus. */
export interface Known extends KnownScope, Omit<KnownReferences, "series"> {
  readonly codes: ReadonlyMap<string, number>;
}

/** The fields of a merely validated voucher that other records are checked against. */
export type BroughtVoucher = Brought & { readonly data: { readonly code: string } };
