import type { ReasonWords } from "./reasons-en.ts";

export const reasonsDe: ReasonWords = {
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
