import type { ClientsOf } from "@tessera/kit/service";
import {
  AnswerFiles,
  Catalogue,
  CheckinLists,
  Credentials,
  Devices,
  Facts,
  Layouts,
  ListedPositions,
  OfflineSales,
  Quotas,
  Records,
  Rendering,
  Retention,
  ScanHistory,
  Scans,
  Shredders,
  Tickets,
  Vouchers,
} from "@tessera/protos/services";
import type { PlacedClients } from "./placed.ts";

/** What the gateway calls, by the service that serves it. */
export const clients = {
  checkinLists: ["checkin", CheckinLists],
  listedPositions: ["checkin", ListedPositions],
  scans: ["checkin", Scans],
  scanHistory: ["checkin", ScanHistory],
  checkinRecords: ["checkin", Records],
  checkinFacts: ["checkin", Facts],
  boxofficeRecords: ["boxoffice", Records],
  boxofficeFacts: ["boxoffice", Facts],
  voucherRecords: ["voucher", Records],
  voucherFacts: ["voucher", Facts],
  vouchers: ["voucher", Vouchers],
  rendering: ["layout-and-render", Rendering],
  layoutRecords: ["layout-and-render", Records],
  layoutFacts: ["layout-and-render", Facts],
  layouts: ["layout-and-render", Layouts],
  offlineSales: ["offline-sales", OfflineSales],
  offlineSalesFacts: ["offline-sales", Facts],
  shredders: ["shredder", Shredders],
  shredderFacts: ["shredder", Facts],
  retention: ["shredder", Retention],
  catalogue: ["boxoffice", Catalogue],
  credentials: ["boxoffice", Credentials],
  devices: ["boxoffice", Devices],
  quotas: ["boxoffice", Quotas],
  tickets: ["boxoffice", Tickets],
  answerFiles: ["boxoffice", AnswerFiles],
} as const;

export type Clients = PlacedClients<ClientsOf<typeof clients>>;
