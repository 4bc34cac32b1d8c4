import { scanProfiles, standsInPublic } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { declare } from "../../http/route.ts";
import { listRequirer } from "../checkin-lists/require-list.ts";
import { failedCheckinExample } from "./examples.ts";
import { namesAsScanners, presentFailedScan, toFailedScan } from "./present.ts";
import { failedCheckinBody, failedCheckinShown } from "./schema.ts";

/** Refusals that devices decided: `checkinlists/{list}/failed_checkins/`. */
export function failedCheckinRoutes({ checkinLists, scanHistory }: Pick<Clients, "checkinLists" | "scanHistory">) {
  return {
    create: declare({
      name: "createFailedCheckin",
      example: failedCheckinExample,
      summary: "Stores a scan that a device refused by itself",
      description: "For statistics and the history of scans. It changes nothing about the ticket.",
      access: {
        kind: "event",
        anyOf: ["event.orders:write", "event.orders:checkin"],
        profiles: scanProfiles,
      },
      body: failedCheckinBody,
      answers: {
        created: { description: "It is stored, or was before.", schema: failedCheckinShown },
        invalid,
        notFound: notFound("The event has no such list or position."),
        conflict,
      },
      exists: listRequirer(checkinLists),
      async handle(request) {
        const { tenant } = request;
        const isPublic = standsInPublic(tenant.profile);
        // A device in public must not find tickets by a typed number.
        const body = isPublic ? { ...request.body, position: null } : request.body;
        const { scan } = await scanHistory.recordFailedScan(
          request.inEvent(
            {
              list: request.id("list"),
              deviceId: tenant.device?.deviceId,
              gate: tenant.device?.gate ?? undefined,
              leavesOutUnknown: namesAsScanners(body),
            },
            { scan: toFailedScan(body) },
          ),
        );
        const shown = presentFailedScan(scan);
        // Another device may have stored another code under this nonce.
        const sent = { raw_barcode: body.raw_barcode, error_explanation: body.error_explanation ?? null };
        return { status: "created", body: isPublic ? { ...shown, ...sent } : shown };
      },
    }),
  };
}
