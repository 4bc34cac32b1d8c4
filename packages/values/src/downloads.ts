/** Which tickets an event offers for download. */
export interface DownloadSettings {
  readonly pdfEnabled: boolean;
  readonly addons: boolean;
  readonly nonAdmission: boolean;
  readonly pending: boolean;
}

/** What decides whether a ticket may be downloaded. */
export interface DownloadedTicket {
  readonly orderStatus: "pending" | "paid" | "expired" | "canceled";
  readonly validIfPending: boolean;
  readonly requireApproval: boolean;
  readonly blocked: boolean;
  readonly addonTo: number | null;
}

/** Names the outputs in which a ticket may be downloaded now. */
export function findDownloads(
  settings: DownloadSettings,
  ticket: DownloadedTicket,
  item: {
    readonly admission: boolean;
    /** Overrides the settings of the event. */
    readonly generateTickets: boolean | null;
  },
): readonly string[] {
  const settled =
    ticket.orderStatus === "paid" ||
    (ticket.orderStatus === "pending" && !ticket.requireApproval && (ticket.validIfPending || settings.pending));
  const generated =
    item.generateTickets ??
    (!ticket.blocked && (ticket.addonTo === null || settings.addons) && (item.admission || settings.nonAdmission));
  return settings.pdfEnabled && settled && generated ? ["pdf"] : [];
}
