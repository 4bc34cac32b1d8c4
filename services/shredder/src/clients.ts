import { Facts, PersonalData, Shredding } from "@tessera/protos/services";

/** What shredder calls, by the service that serves it. */
export const clients = {
  shredding: ["boxoffice", Shredding],
  boxofficeData: ["boxoffice", PersonalData],
  boxofficeFacts: ["boxoffice", Facts],
  checkinData: ["checkin", PersonalData],
  checkinFacts: ["checkin", Facts],
  voucherData: ["voucher", PersonalData],
  layoutData: ["layout-and-render", PersonalData],
  gatewayData: ["gateway", PersonalData],
} as const;
