import { constant, instant, object, orNothing, text } from "@tessera/schema/build";
import { scanProfiles } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import { invalid, notFound, record } from "../../http/answers.ts";
import { bodyOf, declare } from "../../http/route.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import { listsOfEvents } from "../redeem/schema.ts";
import { annulExample } from "./examples.ts";

const annulBody = bodyOf({
  title: "AnnulBody",
  ...object(
    {
      lists: listsOfEvents,
      nonce: text({ blank: false, trim: false, maxLength: 190, description: "Of the scan." }),
      ...orNothing({
        datetime: instant({ nullable: true, description: "When it was annulled. Default: now." }),
        error_explanation: text({ nullable: true, maxLength: 1000, description: "Why, for a person." }),
      }),
    },
    { required: ["lists", "nonce"] },
  ),
});

/** Scans that are taken back: `checkinrpc/annul/`. */
export function annulRoutes({ scanHistory }: Pick<Clients, "scanHistory">) {
  return {
    annul: declare({
      name: "annulCheckin",
      example: annulExample,
      summary: "Takes a scan back: its ticket may be scanned again",
      description: "Within 15 minutes, by the device that made it. A key takes back scans of keys.",
      access: { kind: "member", anyOf: ["event.orders:write", "event.orders:checkin"], profiles: scanProfiles },
      body: annulBody,
      answers: {
        ok: { description: "It is taken back.", schema: record("Annulled", { status: constant("ok") }) },
        invalid,
        notFound: notFound("No scan on these lists has this nonce."),
      },
      async handle({ body, tenant, inOrganizer }) {
        await scanHistory.annulScan(
          inOrganizer(
            { among: amongEventsOf(tenant), deviceId: tenant.device?.deviceId },
            {
              lists: [...body.lists],
              nonce: body.nonce,
              at: body.datetime ?? undefined,
              explanation: body.error_explanation ?? undefined,
            },
          ),
        );
        return { status: "ok", body: { status: "ok" } };
      },
    }),
  };
}
