import type { ItemAtGate, Ticket } from "./ticket.ts";

/** Which tickets an event offers for download. */
export interface DownloadSettings {
  readonly pdfEnabled: boolean;
  readonly addons: boolean;
  readonly nonAdmission: boolean;
  readonly pending: boolean;
}

/** Names the outputs in which a ticket may be downloaded now. */
export function findDownloads(
  settings: DownloadSettings,
  ticket: Pick<Ticket, "orderStatus" | "validIfPending" | "requireApproval" | "blocked" | "addonTo">,
  item: Pick<ItemAtGate, "admission" | "generateTickets">,
): readonly string[] {
  const settled =
    ticket.orderStatus === "paid" ||
    (ticket.orderStatus === "pending" && !ticket.requireApproval && (ticket.validIfPending || settings.pending));
  const generated =
    item.generateTickets ??
    (!ticket.blocked && (ticket.addonTo === null || settings.addons) && (item.admission || settings.nonAdmission));
  return settings.pdfEnabled && settled && generated ? ["pdf"] : [];
}
