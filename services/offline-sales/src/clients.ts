import { Facts, Layouts, Rendering, Sales, ScanHistory } from "@tessera/protos/services";

/** What offline-sales calls, by the service that serves it. */
export const clients = {
  sales: ["boxoffice", Sales],
  boxofficeFacts: ["boxoffice", Facts],
  checkinFacts: ["checkin", Facts],
  scanHistory: ["checkin", ScanHistory],
  layouts: ["layout-and-render", Layouts],
  rendering: ["layout-and-render", Rendering],
} as const;
