import { at, type Route } from "../http/route.ts";
import { checkinListExamples } from "./checkin-lists/examples.ts";
import { makeRoutes, type RouteDependencies } from "./make-routes.ts";
import { callbackPath } from "./sign-in/routes.ts";

const organizer = "/api/v1/organizers/{organizer}";
const event = `${organizer}/events/{event}`;

/** The URL map: the whole API at a glance. `routes.redeem` is made in the folder `redeem/`, and so on. */
export function allRoutes(deps: RouteDependencies): readonly Route[] {
  const routes = makeRoutes(deps, () => all);
  const ofOfflineSales = [
    at("GET", `${event}/offlinesalesbatches/`, routes.offlineSales.list),
    at("POST", `${event}/offlinesalesbatches/`, routes.offlineSales.create),
    at("GET", `${event}/offlinesalesbatches/check/{job}/`, routes.offlineSales.check),
    at("GET", `${event}/offlinesalesbatches/{id}/`, routes.offlineSales.get),
    at("POST", `${event}/offlinesalesbatches/{id}/render/`, routes.offlineSales.render),
    at("GET", `${event}/offlinesalesbatches/{id}/download/{job}/{file}/`, routes.offlineSales.download),
    at("POST", `${event}/offlinesalesbatches/{id}/cancel/`, routes.offlineSales.cancel),
  ];

  const all: readonly Route[] = [
    at("POST", `${organizer}/checkinrpc/redeem/`, routes.redeem.redeemOnLists),
    at("POST", `${organizer}/checkinrpc/redeem_batch/`, routes.redeem.redeemBatch),
    at("GET", `${organizer}/checkinrpc/search/`, routes.search.search),
    at("POST", `${organizer}/checkinrpc/annul/`, routes.annulments.annul),

    at("GET", `${organizer}/sync/`, routes.sync.read),
    at("GET", `${event}/pack/`, routes.sync.pack),

    at("GET", `${organizer}/events/`, routes.catalogue.events),
    at("GET", `${event}/`, routes.catalogue.event),
    at("GET", `${event}/settings/`, routes.catalogue.settings),
    at("GET", `${organizer}/subevents/`, routes.catalogue.datesOfOrganizer),
    at("GET", `${event}/subevents/`, routes.catalogue.dates),
    at("GET", `${event}/subevents/{id}/`, routes.catalogue.date),
    at("GET", `${event}/categories/`, routes.catalogue.categories),
    at("GET", `${event}/categories/{id}/`, routes.catalogue.category),
    at("GET", `${event}/items/`, routes.catalogue.items),
    at("GET", `${event}/items/{id}/`, routes.catalogue.item),
    at("GET", `${event}/questions/`, routes.catalogue.questions),
    at("GET", `${event}/questions/{id}/`, routes.catalogue.question),
    at("GET", `${event}/quotas/`, routes.catalogue.quotas),
    at("GET", `${event}/quotas/{id}/`, routes.catalogue.quota),
    at("GET", `${event}/quotas/{id}/availability/`, routes.catalogue.quotaAvailability),
    at("GET", `${event}/revokedsecrets/`, routes.catalogue.revokedSecrets),
    at("GET", `${event}/blockedsecrets/`, routes.catalogue.blockedSecrets),
    at("GET", `${organizer}/reusablemedia/`, routes.catalogue.media),
    at("GET", `${organizer}/gates/`, routes.catalogue.gates),
    at("GET", `${event}/badgelayouts/`, routes.catalogue.badgeLayouts),
    at("GET", `${event}/badgeitems/`, routes.catalogue.badgeItems),

    at("GET", `${event}/checkinlists/`, routes.checkinLists.list),
    at("POST", `${event}/checkinlists/`, routes.checkinLists.create),
    at("GET", `${event}/checkinlists/{id}/`, routes.checkinLists.get),
    at("PATCH", `${event}/checkinlists/{id}/`, routes.checkinLists.patch),
    at("PUT", `${event}/checkinlists/{id}/`, routes.checkinLists.put),
    at("DELETE", `${event}/checkinlists/{id}/`, routes.checkinLists.remove),
    // The published API documentation names this path.
    at("DELETE", `${event}/checkinlist/{id}/`, {
      ...routes.checkinLists.remove,
      name: "deleteCheckinListSingular",
      example: checkinListExamples.removeSingular,
    }),
    at("GET", `${event}/checkinlists/{id}/status/`, routes.checkinLists.status),

    at("GET", `${event}/checkinlists/{list}/positions/`, routes.listedPositions.list),
    at("GET", `${event}/checkinlists/{list}/positions/{id}/`, routes.listedPositions.get),
    at("POST", `${event}/checkinlists/{list}/positions/{lookup+}/redeem/`, routes.redeem.redeem),
    at("GET", `${event}/checkinlists/{list}/positions/{lookup+}/explain/`, routes.explanations.explain),

    at("POST", `${event}/checkinlists/{list}/failed_checkins/`, routes.failedCheckins.create),

    at("GET", `${event}/checkins/`, routes.checkins.list),
    at("GET", `${event}/checkins/export/`, routes.scanExports.scans),
    at("GET", `${event}/checkins/report/`, routes.dayReports.report),
    at("GET", `${event}/checkins/{id}/`, routes.checkins.get),

    at("GET", `${event}/live/`, routes.live.read),
    at("GET", `${event}/live/hour/`, routes.live.lastHour),
    at("GET", `${event}/alarms/`, routes.alarms.list),
    at("POST", `${event}/alarms/{id}/acknowledge/`, routes.alarms.acknowledge),

    at("GET", `${event}/doubles/`, routes.doubles.list),
    at("GET", `${event}/doubles/counts/`, routes.doubles.counts),
    at("GET", `${event}/doubles/{id}/`, routes.doubles.get),
    at("PATCH", `${event}/doubles/{id}/`, routes.doubles.explain),

    at("GET", `${event}/vouchers/`, routes.vouchers.list),
    at("POST", `${event}/vouchers/`, routes.vouchers.create),
    at("POST", `${event}/vouchers/batch_create/`, routes.vouchers.createBatch),
    at("POST", `${event}/vouchers/check/`, routes.voucherShop.check),
    at("POST", `${event}/vouchers/reserve/`, routes.voucherShop.reserve),
    at("POST", `${event}/vouchers/confirm/`, routes.voucherShop.confirm),
    at("POST", `${event}/vouchers/release/`, routes.voucherShop.release),
    at("GET", `${event}/vouchers/{id}/`, routes.vouchers.get),
    at("PATCH", `${event}/vouchers/{id}/`, routes.vouchers.patch),
    at("PUT", `${event}/vouchers/{id}/`, routes.vouchers.put),
    at("DELETE", `${event}/vouchers/{id}/`, routes.vouchers.remove),

    at("GET", `${event}/ticketlayouts/`, routes.ticketLayouts.list),
    at("POST", `${event}/ticketlayouts/`, routes.ticketLayouts.create),
    at("POST", `${event}/ticketlayouts/preview/`, routes.layoutDrafts.preview),
    at("POST", `${event}/ticketlayouts/lint/`, routes.layoutDrafts.lint),
    at("GET", `${event}/ticketlayouts/{id}/`, routes.ticketLayouts.get),
    at("PATCH", `${event}/ticketlayouts/{id}/`, routes.ticketLayouts.patch),
    at("PUT", `${event}/ticketlayouts/{id}/`, routes.ticketLayouts.put),
    at("DELETE", `${event}/ticketlayouts/{id}/`, routes.ticketLayouts.remove),
    at("PUT", `${event}/ticketlayouts/{id}/assignments/`, routes.ticketLayouts.assign),
    at("GET", `${event}/ticketlayoutitems/`, routes.ticketLayouts.assignments),
    at("GET", `${event}/ticketlayoutitems/{id}/`, routes.ticketLayouts.assignment),
    at("GET", "/pub/{organizer}/{event}/ticketlayouts/{file}", routes.backgrounds.get),

    at("GET", `${event}/orders/`, routes.orders.list),
    at("GET", `${event}/orders/{code}/`, routes.orders.get),
    at("GET", `${event}/orderpositions/`, routes.orders.positions),
    at("GET", `${event}/orderpositions/{id}/`, routes.orders.position),
    at("POST", `${event}/orderpositions/{id}/printlog/`, routes.orders.print),

    at("GET", `${event}/orderpositions/{position}/answer/{question}/`, routes.answerFiles.get),

    at("GET", `${event}/orderpositions/{position}/download/pdf/`, routes.ticketRendering.ticket),

    at("POST", `${event}/ticketpdfrenderer/render_batch/`, routes.ticketRendering.startBatch),
    at("GET", `${event}/ticketpdfrenderer/download/{job}/{file}/`, routes.ticketRendering.download),

    ...(deps.hasOfflineSales ? ofOfflineSales : []),

    at("GET", `${event}/shredders/`, routes.shredders.list),
    at("POST", `${event}/shredders/export/`, routes.shredders.export),
    at("GET", `${event}/shredders/download/{export}/{file}/`, routes.shredders.download),
    at("POST", `${event}/shredders/shred/{export}/{file}/`, routes.shredders.shred),
    at("GET", `${event}/shredders/status/{case}/{file}/`, routes.shredders.status),
    at("GET", `${event}/shredders/certificate/{case}/`, routes.shredders.certificate),
    at("GET", `${event}/shredders/{identifier}/`, routes.shredders.get),
    at("GET", `${organizer}/shredders/certificate/{case}/`, routes.shredders.certificateOfOrganizer),
    at("GET", "/api/v1/shredders/key/", routes.shredders.certificateKey),

    at("GET", `${organizer}/retention/`, routes.retention.get),
    at("PUT", `${organizer}/retention/`, routes.retention.put),
    at("DELETE", `${organizer}/retention/`, routes.retention.remove),
    at("GET", `${organizer}/retention/upcoming/`, routes.retention.upcoming),
    at("GET", `${organizer}/retention/erased/`, routes.retention.erased),

    at("GET", `${organizer}/apikeys/`, routes.credentials.apiKeys.list),
    at("POST", `${organizer}/apikeys/`, routes.credentials.apiKeys.create),
    at("POST", `${organizer}/apikeys/{key}/revoke/`, routes.credentials.apiKeys.revoke),
    at("GET", `${organizer}/devices/`, routes.credentials.devices.list),
    at("POST", `${organizer}/devices/`, routes.credentials.devices.create),
    at("POST", `${organizer}/devices/{device}/revoke/`, routes.credentials.devices.revoke),

    at("POST", `${organizer}/signinlinks/`, routes.sessions.createLink),
    at("GET", `${organizer}/sessions/`, routes.sessions.list),
    at("DELETE", `${organizer}/sessions/{session}/`, routes.sessions.revoke),
    at("POST", "/api/v1/session/", routes.sessions.begin),
    at("GET", "/api/v1/session/", routes.sessions.get),
    at("DELETE", "/api/v1/session/", routes.sessions.end),
    ...(routes.signIn === undefined
      ? []
      : [at("GET", "/api/v1/session/oidc/", routes.signIn.begin), at("GET", callbackPath, routes.signIn.end)]),

    at("POST", "/api/v1/device/initialize", routes.device.initialize),
    at("POST", "/api/v1/device/update", routes.device.update),
    at("GET", "/api/v1/device/info", routes.device.info),
    at("GET", "/api/v1/device/eventselection", routes.device.select),
    at("POST", "/api/v1/device/roll", routes.device.roll),
    at("POST", "/api/v1/device/revoke", routes.device.revoke),
    at("GET", "/api/v1/version", routes.device.version),

    at("POST", "/api/v1/import/", routes.imports.importRecords),
    at("POST", "/api/v1/upload", routes.uploads.upload),
    at("GET", "/api/v1/idempotency_query", routes.idempotency.query),

    at("GET", "/api/v1/openapi.json", routes.documentation.openApi),
    at("GET", "/", routes.documentation.home),
    at("GET", "/favicon.ico", routes.documentation.icon),
    at("GET", "/docs", routes.documentation.page),
    at("GET", "/docs/start.js", routes.documentation.start),
    at("GET", "/docs/standalone.js", routes.documentation.viewer),
    at("GET", "/scan/", routes.scannerPage.page),
    at("GET", "/scan/service-worker.js", routes.scannerPage.worker),
    at("GET", "/scan/assets/{file}", routes.scannerPage.asset),
    at("GET", "/board/", routes.board.page),
    at("GET", "/board/assets/{file}", routes.board.asset),
  ];
  return all;
}
