import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { prefers } from "../../http/accepts.ts";
import { invalid } from "../../http/answers.ts";
import { asAttachment, pdf } from "../../http/attachment.ts";
import { choosesTable, csv } from "../../http/csv.ts";
import { type DownloadLimits, downloadTurns } from "../../http/downloads.ts";
import { choiceFilter, idFilter, textFilter } from "../../http/parameter.ts";
import { declare, type Reply } from "../../http/route.ts";
import { checkinExamples } from "./examples.ts";
import { reading } from "./filters.ts";
import { namePlaces, type PlaceNames } from "./name-places.ts";
import { presentReport, writeQuarters } from "./present-report.ts";
import { dayReportShown } from "./report-schema.ts";

const json = "application/json";

/** A report of a large event takes seconds of the database. */
const limits: DownloadLimits = { total: 4, each: 1, waitMs: 10_000, longestMs: 120_000 };

/** A million scans take some seconds. */
const reportMs = 60_000;

/** The browser may have to be started. */
const printMs = 30_000;

/** What happened at the gates on one day: `checkins/report/`. */
export function dayReportRoutes({
  scanHistory,
  rendering,
  ...names
}: Pick<Clients, "scanHistory" | "rendering"> & PlaceNames) {
  const takeTurn = downloadTurns(limits, () =>
    fault("downloads_busy", "Another report is being made. Ask for this one again soon.", { retryAfterMs: 5000 }),
  );

  return {
    report: declare({
      name: "reportCheckins",
      example: checkinExamples.report,
      summary: "Reports on the scans of a day",
      description:
        "Entries, exits and refusals of each quarter of an hour, and how many were inside at its end; totals, and counts by product, list, gate, device and reason. Annulled scans do not count. As CSV it is the table of the quarters, and as PDF some pages to print, in German for an event in German and else in English.",
      access: reading,
      produces: [json, csv, pdf],
      query: {
        date: textFilter("`2027-05-12`, on the calendar of the event. Default: today, or the last day with scans."),
        list: idFilter("Only scans on this list."),
        subevent: idFilter("Only scans of tickets of this date."),
        format: choiceFilter("`csv`: the quarters as a table, as with `Accept: text/csv`; `pdf`: pages to print.", [
          "json",
          "csv",
          "pdf",
        ]),
      },
      answers: { ok: { description: "The report.", schema: dayReportShown }, invalid },
      async handle(request): Promise<Reply> {
        const { query, signal, inEvent } = request;
        const { date, list, subevent, format } = query;
        await takeTurn(request, 1);
        const counted = await scanHistory.reportDay(inEvent({ date, list, subevent }), { signal, timeoutMs: reportMs });
        const found = await namePlaces(counted, request, names);
        if (format === "pdf" || (format === undefined && prefers(request, pdf, json))) {
          const printed = await rendering.printDayReport(inEvent({ report: found }), { signal, timeoutMs: printMs });
          const headers = asAttachment(`checkins-${found.date}.pdf`);
          return { status: "ok", type: pdf, headers, body: Buffer.from(printed.pdf) };
        }
        const shown = presentReport(found, { list, subevent });
        if (!choosesTable(request, { format, otherwise: json })) return { status: "ok", body: shown };
        const headers = asAttachment(`checkins-${shown.date}.csv`);
        return { status: "ok", type: `${csv}; charset=utf-8`, headers, body: Buffer.from(writeQuarters(shown)) };
      },
    }),
  };
}
