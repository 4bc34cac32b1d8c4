import type { Client } from "@tessera/kit/rpc";
import type { Runtime } from "@tessera/kit/service";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { AnswerFilesServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/answer_files";
import { CredentialsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { QuotasServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import { ScanHistoryServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { CheckinListsServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { ListedPositionsServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { ScansServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { RecordsServiceService } from "@tessera/protos/gen/ticketing/records/v1/records";

/** One typed client per service that the gateway calls. */
export interface Clients {
  readonly checkinLists: Client<CheckinListsServiceService>;
  readonly listedPositions: Client<ListedPositionsServiceService>;
  readonly scans: Client<ScansServiceService>;
  readonly scanHistory: Client<ScanHistoryServiceService>;
  readonly checkinRecords: Client<RecordsServiceService>;
  readonly checkinFacts: Client<FactsServiceService>;
  readonly boxofficeRecords: Client<RecordsServiceService>;
  readonly boxofficeFacts: Client<FactsServiceService>;
  readonly credentials: Client<CredentialsServiceService>;
  readonly quotas: Client<QuotasServiceService>;
  readonly answerFiles: Client<AnswerFilesServiceService>;
}

/** Names of the services behind the gateway. */
export const peers = ["boxoffice", "checkin"] as const;

/** Connects to every service behind the gateway. */
export function connectPeers(peer: Runtime<never>["peer"]): Clients {
  return {
    checkinLists: peer("checkin", CheckinListsServiceService),
    listedPositions: peer("checkin", ListedPositionsServiceService),
    scans: peer("checkin", ScansServiceService),
    scanHistory: peer("checkin", ScanHistoryServiceService),
    checkinRecords: peer("checkin", RecordsServiceService),
    checkinFacts: peer("checkin", FactsServiceService),
    boxofficeRecords: peer("boxoffice", RecordsServiceService),
    boxofficeFacts: peer("boxoffice", FactsServiceService),
    credentials: peer("boxoffice", CredentialsServiceService),
    quotas: peer("boxoffice", QuotasServiceService),
    answerFiles: peer("boxoffice", AnswerFilesServiceService),
  };
}
