import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { choiceFilter, flagFilter, idFilter, instantFilter, numberFilter, ordering } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import { errorReasons } from "../failed-checkins/schema.ts";
import { checkinExamples } from "./examples.ts";
import { presentPastScan } from "./present.ts";
import { readScanType } from "./scan-type.ts";
import { pastCheckinShown } from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };

/** The history of scans of an event: `checkins/` and below. */
export function checkinRoutes({ scanHistory }: Pick<Clients, "scanHistory">) {
  return {
    list: declareList({
      name: "listCheckins",
      example: checkinExamples.list,
      summary: "Lists the scans of an event, refused ones too",
      access: reading,
      query: {
        ordering: ordering(["created", "datetime", "id"], "created,id"),
        created_since: instantFilter(
          "Came here at this time or later. To miss none that is held back, begin a minute before the newest that you know.",
        ),
        created_before: instantFilter("Came here before this time."),
        datetime_since: instantFilter("Scanned at this time or later."),
        datetime_before: instantFilter("Scanned before this time."),
        successful: flagFilter("Only scans that succeeded, or only refused ones."),
        error_reason: choiceFilter("Only scans refused for this reason.", errorReasons),
        list: idFilter("Only scans on this list."),
        type: choiceFilter("Only entries, or only exits.", ["entry", "exit"] as const),
        // Gates and devices belong to the organizer; the ids are compared without a lookup (see ListScans).
        gate: numberFilter("Only scans at this gate, by its id."),
        device: numberFilter("Only scans by this device, by its internal id."),
        auto_checked_in: flagFilter("Only scans that the platform made by itself, or only the others."),
      },
      page: "One page of scans.",
      shows: pastCheckinShown,
      async find({ inEvent, query, signal }, page) {
        const found = await scanHistory.listScans(
          inEvent({
            ...page,
            ordering: [...query.ordering],
            createdSince: query.created_since,
            createdBefore: query.created_before,
            atSince: query.datetime_since,
            atBefore: query.datetime_before,
            successful: query.successful,
            reason: query.error_reason,
            list: query.list,
            type: query.type === undefined ? ScanType.UNSPECIFIED : readScanType(query.type),
            gate: query.gate,
            device: query.device,
            autoCheckedIn: query.auto_checked_in,
          }),
          { signal },
        );
        return { ...found, results: found.scans.map(presentPastScan) };
      },
    }),

    get: declare({
      name: "getCheckin",
      example: checkinExamples.get,
      summary: "Shows a scan, refused or not",
      access: reading,
      answers: {
        200: { description: "The scan.", schema: pastCheckinShown },
        404: notFound("The event has no such scan."),
      },
      async handle(request) {
        const { signal } = request;
        const { scan } = await scanHistory.getScan(request.inEvent({ id: request.id("id") }), { signal });
        return { status: 200, body: presentPastScan(scan) };
      },
    }),
  };
}
