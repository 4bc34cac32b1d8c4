/** Why a scan is refused; the words are part of the contract with scanning devices. */
export type Refusal =
  | "canceled"
  | "blocked"
  | "unapproved"
  | "invalid_time"
  | "product"
  | "unpaid"
  | "already_redeemed"
  | "ambiguous";
