import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { staffProfiles } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import { detail, invalid } from "../../http/answers.ts";
import { choiceFilter, instantFilter, numberFilter } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import type { Placed } from "../../placed.ts";
import { listRequirer } from "../checkin-lists/require-list.ts";
import { readScanType } from "../checkins/scan-type.ts";
import { expansion, toExpand } from "../listed-positions/expand.ts";
import { idsOf } from "../listed-positions/present.ts";
import type { PrintReader } from "../listed-positions/print.ts";
import { askCheckin } from "./ask-checkin.ts";
import { explainExample } from "./examples.ts";
import { presentOutcome } from "./present.ts";
import { admittedShown, exchangeShown, incompleteShown, refusedShown, unknownShown } from "./schema.ts";

/** What a scan would come to: `checkinlists/{list}/positions/{lookup}/explain/`. */
export function explainRoutes({
  checkinLists,
  scans,
  prints,
}: Pick<Clients, "checkinLists" | "scans"> & { readonly prints: Pick<PrintReader, "read"> }) {
  return {
    explain: declare({
      name: "explainScan",
      example: explainExample,
      summary: "Explains what a scan of a ticket would come to",
      description: "Nothing is stored. `lookup` is a ticket secret or a position id.",
      access: { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: staffProfiles },
      query: {
        datetime: instantFilter("When it is scanned. Default: now."),
        gate: numberFilter("The id of the gate. Default: that of the device."),
        type: choiceFilter("An entry, or an exit. Default: an entry.", ["entry", "exit"] as const),
        expand: expansion(),
      },
      answers: {
        ok: {
          description: "The decision.",
          schema: { anyOf: [admittedShown, refusedShown, incompleteShown, exchangeShown] },
        },
        invalid,
        notFound: {
          description: "No ticket has this code, or there is no such list.",
          schema: { anyOf: [unknownShown, detail] },
        },
      },
      exists: listRequirer(checkinLists),
      async handle(request) {
        const { query, tenant } = request;
        const scan: Placed<Scan> = request.inEvent({
          ...{ list: request.id("list"), lookup: request.param("lookup"), untrustedInput: false },
          ...{
            type: readScanType(query.type),
            at: query.datetime,
            gate: query.gate ?? tenant.device?.gate ?? undefined,
          },
          ...{ force: false, ignoreUnpaid: false, canceledSupported: true, questionsSupported: true, answers: [] },
          ...{ sourceType: "barcode", useOrderLocale: false, expand: toExpand(query.expand) },
        });
        const { outcome, explanation } = await askCheckin(request, (call) =>
          scans.simulateScan({ scan, lists: [] }, call),
        );
        const printed = await prints.read(request, outcome.position === undefined ? [] : idsOf([outcome.position]));
        const reply = presentOutcome(outcome, {
          ...{ address: request, names: query.expand, pdfData: undefined },
          ...{ force: false, refusedStatus: "ok", explanation, prints: printed },
        });
        return reply.status === "notFound" ? reply : { ...reply, status: "ok" };
      },
    }),
  };
}
