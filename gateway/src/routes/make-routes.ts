import type { Files } from "@tessera/kit/files/files";
import type { IdentityProvider } from "../access/identity-provider.ts";
import type { DeviceContacts } from "../access/remember-contacts.ts";
import type { Clients } from "../clients.ts";
import { downloadTurns, renderedLimits, storedDownloads } from "../http/downloads.ts";
import type { Route } from "../http/route.ts";
import type { ImportTargets } from "../import/import-stream.ts";
import type { UploadTargets } from "../upload/take-upload.ts";
import { alarmRoutes } from "./alarms/routes.ts";
import { answerFileRoutes } from "./answer-files/routes.ts";
import { backgroundRoutes } from "./backgrounds/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { checkinListRoutes } from "./checkin-lists/routes.ts";
import { annulRoutes } from "./checkins/annul-routes.ts";
import { scanExportRoutes } from "./checkins/export-routes.ts";
import type { PlaceNames } from "./checkins/name-places.ts";
import { dayReportRoutes } from "./checkins/report-routes.ts";
import { checkinRoutes } from "./checkins/routes.ts";
import { type CredentialRouteDependencies, credentialRoutes } from "./credentials/routes.ts";
import { deviceRoutes } from "./device/routes.ts";
import { openApi } from "./documentation/openapi.ts";
import type { DemoKeys } from "./documentation/page.ts";
import { documentationRoutes } from "./documentation/routes.ts";
import { doubleRoutes } from "./doubles/routes.ts";
import { failedCheckinRoutes } from "./failed-checkins/routes.ts";
import { type FindAnswer, idempotencyRoutes } from "./idempotency/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { layoutDraftRoutes } from "./layout-drafts/routes.ts";
import { pagePdfDataReader, pdfDataReader } from "./listed-positions/pdf-data.ts";
import { printReader } from "./listed-positions/print.ts";
import { listedPositionRoutes } from "./listed-positions/routes.ts";
import { searchRoutes } from "./listed-positions/search-routes.ts";
import { type LiveTargets, liveRoutes } from "./live/routes.ts";
import { offlineSalesRoutes } from "./offline-sales/routes.ts";
import { orderRoutes } from "./orders/routes.ts";
import { boardRoutes, scannerPageRoutes } from "./pages/routes.ts";
import { explainRoutes } from "./redeem/explain-routes.ts";
import { type RedeemOptions, redeemRoutes } from "./redeem/routes.ts";
import { retentionRoutes } from "./retention/routes.ts";
import { type SessionRouteDependencies, sessionRoutes } from "./sessions/routes.ts";
import { shredderRoutes } from "./shredders/routes.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { syncRoutes } from "./sync/routes.ts";
import { ticketLayoutRoutes } from "./ticket-layouts/routes.ts";
import { ticketRenderingRoutes } from "./ticket-rendering/routes.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { voucherShopRoutes } from "./voucher-shop/routes.ts";
import { voucherRoutes } from "./vouchers/routes.ts";

export interface RouteDependencies extends Pick<RedeemOptions, "refusedStatus" | "findUploads" | "expireDropped"> {
  readonly clients: Pick<
    Clients,
    | "alarms"
    | "answerFiles"
    | "catalogue"
    | "checkinLists"
    | "credentials"
    | "devices"
    | "doubles"
    | "listedPositions"
    | "rendering"
    | "retention"
    | "layouts"
    | "live"
    | "offlineSales"
    | "orderCheckins"
    | "orders"
    | "scanHistory"
    | "scans"
    | "shredders"
    | "sync"
    | "voucherShop"
    | "vouchers"
  >;
  /** The file store of the services. */
  readonly files: Pick<Files, "get">;
  /** Whether the service is deployed; otherwise its paths do not exist. */
  readonly hasOfflineSales: boolean;
  readonly importTargets: ImportTargets;
  readonly uploadTargets: UploadTargets;
  readonly findAnswer: FindAnswer;
  readonly credentials: Omit<CredentialRouteDependencies, "credentials" | "findContacts">;
  readonly contacts: Pick<DeviceContacts, "noteSync">;
  readonly findHeard: LiveTargets["findHeard"];
  readonly findDeviceNames: PlaceNames["findDeviceNames"];
  readonly findContacts: CredentialRouteDependencies["findContacts"];
  readonly sessions: SessionRouteDependencies["sessions"];
  /** Undefined: people sign in with links alone. */
  readonly identityProvider: IdentityProvider | undefined;
  readonly findEvents: SessionRouteDependencies["findEvents"];
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
  readonly baseUrl: () => string;
  readonly version: string;
  /** Keys that the documentation page fills in. */
  readonly demoKeys: DemoKeys;
}

/** Makes the routes of every folder. `all` is every route, for the documentation. */
export function makeRoutes(deps: RouteDependencies, all: () => readonly Route[]) {
  const { clients, baseUrl, version, identityProvider: provider } = deps;
  const readPdfData = pdfDataReader(clients);
  const prints = printReader(clients);
  const takeTurn = downloadTurns(renderedLimits);
  const replyStored = storedDownloads(deps.files);
  return {
    checkinLists: checkinListRoutes(clients),
    listedPositions: listedPositionRoutes({ ...clients, readPdfData, prints }),
    search: searchRoutes({ ...clients, prints }),
    redeem: redeemRoutes({
      ...deps,
      checkinLists: clients.checkinLists,
      readPdfData,
      prints,
      scans: clients.scans,
    }),
    explanations: explainRoutes({ ...clients, prints }),
    annulments: annulRoutes(clients),
    orders: orderRoutes({ ...clients, readPdfData: pagePdfDataReader(clients), prints }),
    failedCheckins: failedCheckinRoutes(clients),
    checkins: checkinRoutes(clients),
    scanExports: scanExportRoutes(clients),
    dayReports: dayReportRoutes({ ...deps, ...clients }),
    doubles: doubleRoutes(clients),
    sync: syncRoutes({ ...deps, sync: clients.sync }),
    live: liveRoutes({ ...deps, live: clients.live }),
    alarms: alarmRoutes(clients),
    vouchers: voucherRoutes(clients),
    voucherShop: voucherShopRoutes(clients),
    ticketLayouts: ticketLayoutRoutes({ ...deps, layouts: clients.layouts }),
    layoutDrafts: layoutDraftRoutes({ ...deps, rendering: clients.rendering, takeTurn }),
    backgrounds: backgroundRoutes({ layouts: clients.layouts, files: deps.files }),
    answerFiles: answerFileRoutes(clients),
    ticketRendering: ticketRenderingRoutes({ rendering: clients.rendering, replyStored, takeTurn }),
    offlineSales: offlineSalesRoutes({ offlineSales: clients.offlineSales, replyStored }),
    shredders: shredderRoutes({ shredders: clients.shredders, replyStored }),
    retention: retentionRoutes(clients),
    imports: importRoutes(deps.importTargets, deps.stopping),
    uploads: uploadRoutes(deps.uploadTargets),
    credentials: credentialRoutes({
      ...{ credentials: clients.credentials, findContacts: deps.findContacts },
      ...deps.credentials,
    }),
    catalogue: catalogueRoutes(clients),
    sessions: sessionRoutes({ ...deps, ...deps.credentials, credentials: clients.credentials }),
    signIn: provider && signInRoutes({ ...deps, provider }),
    device: deviceRoutes({ ...clients, ...deps.credentials }),
    idempotency: idempotencyRoutes(deps.findAnswer),
    documentation: documentationRoutes({
      document: () => openApi(all(), { server: baseUrl(), version }),
      version,
      demoKeys: deps.demoKeys,
    }),
    scannerPage: scannerPageRoutes(),
    board: boardRoutes(),
  };
}
