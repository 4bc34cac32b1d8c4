/** The services of the platform, by the name that callers and servers use. */
export { FactsServiceService as Facts } from "./gen/platform/v1/facts.ts";
export { AnswerFilesServiceService as AnswerFiles } from "./gen/ticketing/boxoffice/v1/answer_files.ts";
export { CapacityServiceService as Capacity } from "./gen/ticketing/boxoffice/v1/capacity.ts";
export { CredentialsServiceService as Credentials } from "./gen/ticketing/boxoffice/v1/credentials.ts";
export { QuotasServiceService as Quotas } from "./gen/ticketing/boxoffice/v1/quotas.ts";
export { TicketsServiceService as Tickets } from "./gen/ticketing/boxoffice/v1/tickets.ts";
export { ScanHistoryServiceService as ScanHistory } from "./gen/ticketing/checkin/v1/history.ts";
export { CheckinListsServiceService as CheckinLists } from "./gen/ticketing/checkin/v1/lists.ts";
export { ListedPositionsServiceService as ListedPositions } from "./gen/ticketing/checkin/v1/positions.ts";
export { ScansServiceService as Scans } from "./gen/ticketing/checkin/v1/scans.ts";
export { RecordsServiceService as Records } from "./gen/ticketing/records/v1/records.ts";
export { VouchersServiceService as Vouchers } from "./gen/ticketing/voucher/v1/vouchers.ts";
