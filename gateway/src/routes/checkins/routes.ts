import type { Clients } from "../../clients.ts";
import { notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { ordering } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import { checkinExamples } from "./examples.ts";
import { filters, reading, toFilter } from "./filters.ts";
import { presentPastScan } from "./present.ts";
import { pastCheckinShown } from "./schema.ts";

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
        ...filters,
      },
      page: "One page of scans.",
      shows: pastCheckinShown,
      async find({ inEvent, query, signal }, page) {
        const asked = { ...page, ordering: [...query.ordering], ...toFilter(query) };
        const found = await scanHistory.listScans(inEvent(asked), { signal });
        return { ...found, results: found.scans.map(presentPastScan) };
      },
    }),

    get: declare({
      name: "getCheckin",
      example: checkinExamples.get,
      summary: "Shows a scan, refused or not",
      access: reading,
      answers: {
        ok: { description: "The scan.", schema: pastCheckinShown },
        notFound: notFound("The event has no such scan."),
      },
      async handle(request) {
        const { signal } = request;
        const { scan } = await scanHistory.getScan(request.inEvent({ id: request.id("id") }), { signal });
        return { status: "ok", body: presentPastScan(scan) };
      },
    }),
  };
}
