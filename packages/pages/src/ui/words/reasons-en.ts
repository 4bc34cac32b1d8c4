/** Why a scan was refused, by the reason codes of the interface. */
export const reasonsEn = {
  reason_canceled: "Canceled",
  reason_invalid: "Unknown code",
  reason_unpaid: "Not paid",
  reason_product: "Wrong product",
  reason_rules: "Not allowed now",
  reason_revoked: "Code was replaced",
  reason_incomplete: "Questions are open",
  reason_already_redeemed: "Already scanned",
  reason_ambiguous: "Several tickets",
  reason_blocked: "Blocked",
  reason_unapproved: "Not approved",
  reason_invalid_time: "Not valid now",
  reason_error: "Error",
  reason_already_exchanged: "Exchanged before",
  reason_medium_invalid: "Wrong medium",
  reason_medium_exists: "Medium is in use",
};

export type ReasonWords = typeof reasonsEn;
