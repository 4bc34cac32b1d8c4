import type { Call } from "@tessera/kit/rpc";
import type { ReportDayResponse } from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import type { PrintDayReportRequest, PrintDayReportResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { Counted, DayReport } from "../domain/day-report/day-report.ts";
import { drawDayReport } from "../domain/day-report/draw-day-report.ts";
import { reportJob } from "../rendering/print-report.ts";
import type { RenderTools } from "../rendering/render-tickets.ts";

/** Prints the report of a day, which its caller has read. */
export async function printDayReport(
  { organizer, report }: PrintDayReportRequest,
  { renderer }: { readonly renderer: Pick<RenderTools, "printer" | "fonts"> },
  { signal }: Call,
): Promise<PrintDayReportResponse> {
  if (report === undefined) throw new Error("no report was to be printed");
  const job = reportJob(drawDayReport(toReport(report)), renderer.fonts, report);
  const { pdf } = await renderer.printer.print(job, { party: organizer, isShort: true, signal });
  return { pdf };
}

const nothing: Counted = { entries: 0, exits: 0, refusals: 0 };

function toReport(report: ReportDayResponse): DayReport {
  const counted = <T extends { readonly scans?: Counted | undefined }>(each: T) => ({
    ...each,
    scans: each.scans ?? nothing,
  });
  const { quarters, products, lists, gates, devices } = report;
  return {
    ...report,
    quarters: quarters.map(counted),
    products: products.map(counted),
    lists: lists.map(counted),
    gates: gates.map(counted),
    devices: devices.map(counted),
  };
}
