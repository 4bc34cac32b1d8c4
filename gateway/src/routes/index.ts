import type { Files } from "@tessera/kit/files/files";
import type { IdentityProvider } from "../access/identity-provider.ts";
import type { DeviceContacts } from "../access/remember-contacts.ts";
import type { Clients } from "../clients.ts";
import { downloadTurns, renderedLimits, storedDownloads } from "../http/downloads.ts";
import { at, type Route } from "../http/route.ts";
import type { ImportTargets } from "../import/import-stream.ts";
import type { UploadTargets } from "../upload/take-upload.ts";
import { alarmRoutes } from "./alarms/routes.ts";
import { answerFileRoutes } from "./answer-files/routes.ts";
import { backgroundRoutes } from "./backgrounds/routes.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { checkinListExamples } from "./checkin-lists/examples.ts";
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
import { callbackPath, signInRoutes } from "./sign-in/routes.ts";
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

const organizer = "/api/v1/organizers/{organizer}";
const event = `${organizer}/events/{event}`;

/** The URL map: the whole API at a glance. */
export function allRoutes(deps: RouteDependencies): readonly Route[] {
  const { clients, baseUrl, version } = deps;
  const lists = checkinListRoutes(clients);
  const readPdfData = pdfDataReader(clients);
  const prints = printReader(clients);
  const positions = listedPositionRoutes({ ...clients, readPdfData, prints });
  const explanations = explainRoutes({ ...clients, prints });
  const search = searchRoutes({ ...clients, prints });
  const annulments = annulRoutes(clients);
  const orders = orderRoutes({ ...clients, readPdfData: pagePdfDataReader(clients), prints });
  const refusals = failedCheckinRoutes(clients);
  const history = checkinRoutes(clients);
  const exports = scanExportRoutes(clients);
  const reports = dayReportRoutes({ ...deps, ...clients });
  const doubles = doubleRoutes(clients);
  const scans = redeemRoutes({
    ...deps,
    checkinLists: clients.checkinLists,
    readPdfData,
    prints,
    scans: clients.scans,
  });
  const sync = syncRoutes({ ...deps, sync: clients.sync });
  const live = liveRoutes({ ...deps, live: clients.live });
  const alarms = alarmRoutes(clients);
  const vouchers = voucherRoutes(clients);
  const shop = voucherShopRoutes(clients);
  const layouts = ticketLayoutRoutes({ ...deps, layouts: clients.layouts });
  const takeTurn = downloadTurns(renderedLimits);
  const replyStored = storedDownloads(deps.files);
  const drafts = layoutDraftRoutes({ ...deps, rendering: clients.rendering, takeTurn });
  const backgrounds = backgroundRoutes({ layouts: clients.layouts, files: deps.files });
  const answerFiles = answerFileRoutes(clients);
  const rendering = ticketRenderingRoutes({ rendering: clients.rendering, replyStored, takeTurn });
  const batches = offlineSalesRoutes({ offlineSales: clients.offlineSales, replyStored });
  const shredders = shredderRoutes({ shredders: clients.shredders, replyStored });
  const retention = retentionRoutes(clients);
  const records = importRoutes(deps.importTargets, deps.stopping);
  const uploads = uploadRoutes(deps.uploadTargets);
  const keys = credentialRoutes({
    ...{ credentials: clients.credentials, findContacts: deps.findContacts },
    ...deps.credentials,
  });
  const catalogue = catalogueRoutes(clients);
  const people = sessionRoutes({ ...deps, ...deps.credentials, credentials: clients.credentials });
  const device = deviceRoutes({ ...clients, ...deps.credentials });
  const idempotency = idempotencyRoutes(deps.findAnswer);
  const documentation = documentationRoutes({
    document: () => openApi(routes, { server: baseUrl(), version }),
    version,
    demoKeys: deps.demoKeys,
  });

  const scannerPage = scannerPageRoutes();
  const board = boardRoutes();

  const ofOfflineSales = [
    at("GET", `${event}/offlinesalesbatches/`, batches.list),
    at("POST", `${event}/offlinesalesbatches/`, batches.create),
    at("GET", `${event}/offlinesalesbatches/check/{job}/`, batches.check),
    at("GET", `${event}/offlinesalesbatches/{id}/`, batches.get),
    at("POST", `${event}/offlinesalesbatches/{id}/render/`, batches.render),
    at("GET", `${event}/offlinesalesbatches/{id}/download/{job}/{file}/`, batches.download),
    at("POST", `${event}/offlinesalesbatches/{id}/cancel/`, batches.cancel),
  ];

  const { identityProvider: provider } = deps;
  const signIn = provider && signInRoutes({ ...deps, provider });

  const routes: readonly Route[] = [
    at("POST", `${organizer}/checkinrpc/redeem/`, scans.redeemOnLists),
    at("POST", `${organizer}/checkinrpc/redeem_batch/`, scans.redeemBatch),
    at("GET", `${organizer}/checkinrpc/search/`, search.search),
    at("POST", `${organizer}/checkinrpc/annul/`, annulments.annul),

    at("GET", `${organizer}/sync/`, sync.read),
    at("GET", `${event}/pack/`, sync.pack),

    at("GET", `${organizer}/events/`, catalogue.events),
    at("GET", `${event}/`, catalogue.event),
    at("GET", `${event}/settings/`, catalogue.settings),
    at("GET", `${organizer}/subevents/`, catalogue.datesOfOrganizer),
    at("GET", `${event}/subevents/`, catalogue.dates),
    at("GET", `${event}/subevents/{id}/`, catalogue.date),
    at("GET", `${event}/categories/`, catalogue.categories),
    at("GET", `${event}/categories/{id}/`, catalogue.category),
    at("GET", `${event}/items/`, catalogue.items),
    at("GET", `${event}/items/{id}/`, catalogue.item),
    at("GET", `${event}/questions/`, catalogue.questions),
    at("GET", `${event}/questions/{id}/`, catalogue.question),
    at("GET", `${event}/quotas/`, catalogue.quotas),
    at("GET", `${event}/quotas/{id}/`, catalogue.quota),
    at("GET", `${event}/quotas/{id}/availability/`, catalogue.quotaAvailability),
    at("GET", `${event}/revokedsecrets/`, catalogue.revokedSecrets),
    at("GET", `${event}/blockedsecrets/`, catalogue.blockedSecrets),
    at("GET", `${organizer}/reusablemedia/`, catalogue.media),
    at("GET", `${organizer}/gates/`, catalogue.gates),
    at("GET", `${event}/badgelayouts/`, catalogue.badgeLayouts),
    at("GET", `${event}/badgeitems/`, catalogue.badgeItems),

    at("GET", `${event}/checkinlists/`, lists.list),
    at("POST", `${event}/checkinlists/`, lists.create),
    at("GET", `${event}/checkinlists/{id}/`, lists.get),
    at("PATCH", `${event}/checkinlists/{id}/`, lists.patch),
    at("PUT", `${event}/checkinlists/{id}/`, lists.put),
    at("DELETE", `${event}/checkinlists/{id}/`, lists.remove),
    // The published API documentation names this path.
    at("DELETE", `${event}/checkinlist/{id}/`, {
      ...lists.remove,
      name: "deleteCheckinListSingular",
      example: checkinListExamples.removeSingular,
    }),
    at("GET", `${event}/checkinlists/{id}/status/`, lists.status),

    at("GET", `${event}/checkinlists/{list}/positions/`, positions.list),
    at("GET", `${event}/checkinlists/{list}/positions/{id}/`, positions.get),
    at("POST", `${event}/checkinlists/{list}/positions/{lookup+}/redeem/`, scans.redeem),
    at("GET", `${event}/checkinlists/{list}/positions/{lookup+}/explain/`, explanations.explain),

    at("POST", `${event}/checkinlists/{list}/failed_checkins/`, refusals.create),

    at("GET", `${event}/checkins/`, history.list),
    at("GET", `${event}/checkins/export/`, exports.scans),
    at("GET", `${event}/checkins/report/`, reports.report),
    at("GET", `${event}/checkins/{id}/`, history.get),

    at("GET", `${event}/live/`, live.read),
    at("GET", `${event}/live/hour/`, live.lastHour),
    at("GET", `${event}/alarms/`, alarms.list),
    at("POST", `${event}/alarms/{id}/acknowledge/`, alarms.acknowledge),

    at("GET", `${event}/doubles/`, doubles.list),
    at("GET", `${event}/doubles/counts/`, doubles.counts),
    at("GET", `${event}/doubles/{id}/`, doubles.get),
    at("PATCH", `${event}/doubles/{id}/`, doubles.explain),

    at("GET", `${event}/vouchers/`, vouchers.list),
    at("POST", `${event}/vouchers/`, vouchers.create),
    at("POST", `${event}/vouchers/batch_create/`, vouchers.createBatch),
    at("POST", `${event}/vouchers/check/`, shop.check),
    at("POST", `${event}/vouchers/reserve/`, shop.reserve),
    at("POST", `${event}/vouchers/confirm/`, shop.confirm),
    at("POST", `${event}/vouchers/release/`, shop.release),
    at("GET", `${event}/vouchers/{id}/`, vouchers.get),
    at("PATCH", `${event}/vouchers/{id}/`, vouchers.patch),
    at("PUT", `${event}/vouchers/{id}/`, vouchers.put),
    at("DELETE", `${event}/vouchers/{id}/`, vouchers.remove),

    at("GET", `${event}/ticketlayouts/`, layouts.list),
    at("POST", `${event}/ticketlayouts/`, layouts.create),
    at("POST", `${event}/ticketlayouts/preview/`, drafts.preview),
    at("POST", `${event}/ticketlayouts/lint/`, drafts.lint),
    at("GET", `${event}/ticketlayouts/{id}/`, layouts.get),
    at("PATCH", `${event}/ticketlayouts/{id}/`, layouts.patch),
    at("PUT", `${event}/ticketlayouts/{id}/`, layouts.put),
    at("DELETE", `${event}/ticketlayouts/{id}/`, layouts.remove),
    at("PUT", `${event}/ticketlayouts/{id}/assignments/`, layouts.assign),
    at("GET", `${event}/ticketlayoutitems/`, layouts.assignments),
    at("GET", `${event}/ticketlayoutitems/{id}/`, layouts.assignment),
    at("GET", "/pub/{organizer}/{event}/ticketlayouts/{file}", backgrounds.get),

    at("GET", `${event}/orders/`, orders.list),
    at("GET", `${event}/orders/{code}/`, orders.get),
    at("GET", `${event}/orderpositions/`, orders.positions),
    at("GET", `${event}/orderpositions/{id}/`, orders.position),
    at("POST", `${event}/orderpositions/{id}/printlog/`, orders.print),

    at("GET", `${event}/orderpositions/{position}/answer/{question}/`, answerFiles.get),

    at("GET", `${event}/orderpositions/{position}/download/pdf/`, rendering.ticket),

    at("POST", `${event}/ticketpdfrenderer/render_batch/`, rendering.startBatch),
    at("GET", `${event}/ticketpdfrenderer/download/{job}/{file}/`, rendering.download),

    ...(deps.hasOfflineSales ? ofOfflineSales : []),

    at("GET", `${event}/shredders/`, shredders.list),
    at("POST", `${event}/shredders/export/`, shredders.export),
    at("GET", `${event}/shredders/download/{export}/{file}/`, shredders.download),
    at("POST", `${event}/shredders/shred/{export}/{file}/`, shredders.shred),
    at("GET", `${event}/shredders/status/{case}/{file}/`, shredders.status),
    at("GET", `${event}/shredders/certificate/{case}/`, shredders.certificate),
    at("GET", `${event}/shredders/{identifier}/`, shredders.get),
    at("GET", `${organizer}/shredders/certificate/{case}/`, shredders.certificateOfOrganizer),
    at("GET", "/api/v1/shredders/key/", shredders.certificateKey),

    at("GET", `${organizer}/retention/`, retention.get),
    at("PUT", `${organizer}/retention/`, retention.put),
    at("DELETE", `${organizer}/retention/`, retention.remove),
    at("GET", `${organizer}/retention/upcoming/`, retention.upcoming),
    at("GET", `${organizer}/retention/erased/`, retention.erased),

    at("GET", `${organizer}/apikeys/`, keys.apiKeys.list),
    at("POST", `${organizer}/apikeys/`, keys.apiKeys.create),
    at("POST", `${organizer}/apikeys/{key}/revoke/`, keys.apiKeys.revoke),
    at("GET", `${organizer}/devices/`, keys.devices.list),
    at("POST", `${organizer}/devices/`, keys.devices.create),
    at("POST", `${organizer}/devices/{device}/revoke/`, keys.devices.revoke),

    at("POST", `${organizer}/signinlinks/`, people.createLink),
    at("GET", `${organizer}/sessions/`, people.list),
    at("DELETE", `${organizer}/sessions/{session}/`, people.revoke),
    at("POST", "/api/v1/session/", people.begin),
    at("GET", "/api/v1/session/", people.get),
    at("DELETE", "/api/v1/session/", people.end),
    ...(signIn === undefined
      ? []
      : [at("GET", "/api/v1/session/oidc/", signIn.begin), at("GET", callbackPath, signIn.end)]),

    at("POST", "/api/v1/device/initialize", device.initialize),
    at("POST", "/api/v1/device/update", device.update),
    at("GET", "/api/v1/device/info", device.info),
    at("GET", "/api/v1/device/eventselection", device.select),
    at("POST", "/api/v1/device/roll", device.roll),
    at("POST", "/api/v1/device/revoke", device.revoke),
    at("GET", "/api/v1/version", device.version),

    at("POST", "/api/v1/import/", records.importRecords),
    at("POST", "/api/v1/upload", uploads.upload),
    at("GET", "/api/v1/idempotency_query", idempotency.query),

    at("GET", "/api/v1/openapi.json", documentation.openApi),
    at("GET", "/", documentation.home),
    at("GET", "/favicon.ico", documentation.icon),
    at("GET", "/docs", documentation.page),
    at("GET", "/docs/start.js", documentation.start),
    at("GET", "/docs/standalone.js", documentation.viewer),
    at("GET", "/scan/", scannerPage.page),
    at("GET", "/scan/service-worker.js", scannerPage.worker),
    at("GET", "/scan/assets/{file}", scannerPage.asset),
    at("GET", "/board/", board.page),
    at("GET", "/board/assets/{file}", board.asset),
  ];
  return routes;
}
