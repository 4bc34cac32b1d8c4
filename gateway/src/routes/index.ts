import type { Clients } from "../clients.ts";
import type { ImportTargets } from "../import/import-stream.ts";
import { openApi } from "../openapi.ts";
import { at, type Route } from "../route.ts";
import { checkinListRoutes } from "./checkin-lists/routes.ts";
import { documentationRoutes } from "./documentation/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { listedPositionRoutes } from "./listed-positions/routes.ts";
import type { RefusedStatus } from "./redeem/present.ts";
import { gatherScans } from "./redeem/redeem-batcher.ts";
import { redeemRoutes } from "./redeem/routes.ts";

export interface RouteDependencies {
  readonly clients: Pick<Clients, "checkinLists" | "listedPositions" | "scans">;
  readonly importTargets: ImportTargets;
  /** Aborts when this process is told to stop. */
  readonly stopping: AbortSignal;
  readonly refusedStatus: RefusedStatus;
  readonly baseUrl: () => string;
  readonly version: string;
}

const event = "/api/v1/organizers/{organizer}/events/{event}";

/** The URL map: the whole interface at a glance. */
export function allRoutes({
  clients,
  importTargets,
  stopping,
  refusedStatus,
  baseUrl,
  version,
}: RouteDependencies): readonly Route[] {
  const lists = checkinListRoutes(clients);
  const positions = listedPositionRoutes(clients);
  const scans = redeemRoutes({
    checkinLists: clients.checkinLists,
    redeem: gatherScans(clients.scans.redeem),
    refusedStatus,
  });
  const records = importRoutes(importTargets, stopping);
  const documentation = documentationRoutes(() => openApi(routes, { server: baseUrl(), version }));

  const routes: readonly Route[] = [
    at("POST", `${event}/checkinlists/{list}/positions/{lookup+}/redeem/`, scans.redeem, { hot: true }),

    at("GET", `${event}/checkinlists/`, lists.list),
    at("POST", `${event}/checkinlists/`, lists.create),
    at("GET", `${event}/checkinlists/{id}/`, lists.get),
    at("PATCH", `${event}/checkinlists/{id}/`, lists.patch),
    at("PUT", `${event}/checkinlists/{id}/`, lists.put),
    at("DELETE", `${event}/checkinlists/{id}/`, lists.remove),
    // As the interface's documentation writes it.
    at("DELETE", `${event}/checkinlist/{id}/`, { ...lists.remove, name: "deleteCheckinListSingular" }),
    at("GET", `${event}/checkinlists/{id}/status/`, lists.status),

    at("GET", `${event}/checkinlists/{list}/positions/`, positions.list),
    at("GET", `${event}/checkinlists/{list}/positions/{id}/`, positions.get),

    at("POST", "/api/v1/import/", records.importRecords),

    at("GET", "/api/v1/openapi.json", documentation.openApi),
    at("GET", "/docs", documentation.page),
    at("GET", "/docs/start.js", documentation.start),
    at("GET", "/docs/standalone.js", documentation.viewer),
  ];
  return routes;
}
