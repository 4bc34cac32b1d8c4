/** Why a scan is refused; the words are part of the contract with scanning devices. */
export type Refusal =
  | "revoked"
  | "ambiguous"
  | "canceled"
  | "blocked"
  | "unapproved"
  | "invalid_time"
  | "product"
  | "unpaid"
  | "rules"
  | "already_redeemed";
