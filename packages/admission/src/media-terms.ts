/** A medium that a visitor brings for a ticket. */
export interface BroughtMedium {
  readonly type: string;
  readonly identifier: string;
  /** What boxoffice said of it and a ticket; absent: it was not asked. */
  readonly answer?: MediumAnswer;
}

export interface MediumAnswer {
  readonly event: string;
  readonly ticket: number;
  /** `other`: the ticket has another medium of this type. */
  readonly result: "linked" | "invalid" | "exists" | "other";
}

/** What tickets of an item are exchanged for. */
export interface MediaTerms {
  readonly policy: MediaPolicy;
  readonly type: string;
}

const policies = ["reuse", "new", "reuse_or_new"] as const;
const types = ["barcode", "nfc_uid", "nfc_mf0aes"];

/** Whether a medium that is there is taken, or one that is made. */
type MediaPolicy = (typeof policies)[number];

/** Reads the terms of an item. Null: its tickets are not exchanged, or in a way that no scanner knows. */
export function readMediaTerms(policy: string | null, type: string | null): MediaTerms | null {
  const known = policies.find((each) => each === policy);
  return known !== undefined && type !== null && types.includes(type) ? { policy: known, type } : null;
}

/** A medium of the type that the ticket is exchanged for. */
export interface TicketMedium {
  readonly identifier: string;
  /** In microseconds since 1970; null: never. */
  readonly expires: number | null;
}
