import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { invalid, notFound } from "../../http/answers.ts";
import { pageOf, paging, toPage } from "../../http/paging.ts";
import { choiceFilter, flagFilter, idFilter, instantFilter, numberFilter, ordering } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import { errorReasons } from "../failed-checkins/schema.ts";
import { presentPastScan } from "./present.ts";
import { readScanType } from "./scan-type.ts";
import { pastCheckinShown } from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };

/** The history of scans of an event: `checkins/` and below. */
export function checkinRoutes({ scanHistory }: Pick<Clients, "scanHistory">) {
  return {
    list: declare({
      name: "listCheckins",
      summary: "Lists the scans of an event, refused ones too",
      access: reading,
      query: {
        ...paging,
        ordering: ordering(["created", "datetime", "id"], "created,id"),
        created_since: instantFilter("Stored here at this time or later."),
        created_before: instantFilter("Stored here before this time."),
        datetime_since: instantFilter("Scanned at this time or later."),
        datetime_before: instantFilter("Scanned before this time."),
        successful: flagFilter("Only scans that succeeded, or only refused ones."),
        error_reason: choiceFilter("Only scans refused for this reason.", errorReasons),
        list: idFilter("Only scans on this list."),
        type: choiceFilter("Only entries, or only exits.", ["entry", "exit"] as const),
        // Both belong to the organizer, and are compared without being looked up: see ListScans.
        gate: numberFilter("Only scans at this gate, by its id."),
        device: numberFilter("Only scans by this device, by its internal id."),
        auto_checked_in: flagFilter("Only scans that the platform made by itself, or only the others."),
      },
      answers: {
        200: { description: "One page of scans.", schema: pageOf(pastCheckinShown) },
        400: invalid,
        404: notFound("There is no such page."),
      },
      async handle(request) {
        const { page, page_size: pageSize, ordering: columns, type, ...filters } = request.query;
        const found = await scanHistory.listScans(
          {
            organizer: request.organizer,
            event: request.event,
            page,
            pageSize,
            ordering: [...columns],
            createdSince: filters.created_since,
            createdBefore: filters.created_before,
            atSince: filters.datetime_since,
            atBefore: filters.datetime_before,
            successful: filters.successful,
            reason: filters.error_reason,
            list: filters.list,
            type: type === undefined ? ScanType.UNSPECIFIED : readScanType(type),
            gate: filters.gate,
            device: filters.device,
            autoCheckedIn: filters.auto_checked_in,
          },
          { signal: request.signal },
        );
        const results = found.scans.map(presentPastScan);
        return { status: 200, body: toPage(request.url, { count: found.count, page: found.page, pageSize, results }) };
      },
    }),

    get: declare({
      name: "getCheckin",
      summary: "Shows a scan, refused or not",
      access: reading,
      answers: {
        200: { description: "The scan.", schema: pastCheckinShown },
        404: notFound("The event has no such scan."),
      },
      async handle(request) {
        const { organizer, event, signal } = request;
        const { scan } = await scanHistory.getScan({ organizer, event, id: request.id("id") }, { signal });
        return { status: 200, body: presentPastScan(scan) };
      },
    }),
  };
}
