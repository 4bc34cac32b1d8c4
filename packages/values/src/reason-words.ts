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

/** The same in German. */
export const reasonsDe: typeof reasonsEn = {
  reason_canceled: "Storniert",
  reason_invalid: "Unbekannter Code",
  reason_unpaid: "Nicht bezahlt",
  reason_product: "Falsches Produkt",
  reason_rules: "Jetzt nicht erlaubt",
  reason_revoked: "Code wurde ersetzt",
  reason_incomplete: "Fragen sind offen",
  reason_already_redeemed: "Schon gescannt",
  reason_ambiguous: "Mehrere Tickets",
  reason_blocked: "Gesperrt",
  reason_unapproved: "Nicht freigegeben",
  reason_invalid_time: "Jetzt nicht gültig",
  reason_error: "Fehler",
  reason_already_exchanged: "Schon getauscht",
  reason_medium_invalid: "Falsches Medium",
  reason_medium_exists: "Medium ist vergeben",
};
