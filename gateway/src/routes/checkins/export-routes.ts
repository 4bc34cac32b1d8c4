import { Readable } from "node:stream";
import type { ExportPlace, ExportScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { acceptsCoding } from "../../http/accepts.ts";
import { invalid } from "../../http/answers.ts";
import { asAttachment } from "../../http/attachment.ts";
import { choosesTable, csv } from "../../http/csv.ts";
import { type DownloadLimits, downloadTurns } from "../../http/downloads.ts";
import { choiceFilter } from "../../http/parameter.ts";
import { declare, type Reply } from "../../http/route.ts";
import { zip } from "../../http/zip.ts";
import { checkinExamples } from "./examples.ts";
import { filters, reading, toFilter } from "./filters.ts";
import { exportedLines } from "./schema.ts";

const ndjson = "application/x-ndjson";

/** Each holds up to three parts in memory; a part has about two megabytes. */
const limits: DownloadLimits = { total: 8, each: 2, waitMs: 10_000, longestMs: 3_600_000 };

/** Also where many others read. */
const readMs = 15_000;

/** All scans of an event as a file: `checkins/export/`. */
export function scanExportRoutes({ scanHistory }: Pick<Clients, "scanHistory">) {
  const takeTurn = downloadTurns(limits, () =>
    fault("downloads_busy", "Too many exports of scans are being read at once. Ask for this one again soon.", {
      retryAfterMs: 5000,
    }),
  );

  return {
    scans: declare({
      name: "exportCheckins",
      example: checkinExamples.export,
      summary: "Exports all scans of an event",
      description:
        "Entries and exits, refused and annulled ones, in the order of their ids: one JSON object a line, an `ExportedCheckin`, or a table. What was stored when the export began is in it once, as it was then. A connection that ends without its last chunk was broken: begin again.",
      access: reading,
      produces: [ndjson, csv],
      query: {
        ...filters,
        format: choiceFilter("`csv`: a table, as with `Accept: text/csv`. Default: JSON lines.", ["json", "csv"]),
      },
      answers: { ok: { description: "Lines, each an `ExportedCheckin`.", schema: exportedLines }, invalid },
      async handle(request): Promise<Reply> {
        const { query, signal, isHead, inEvent } = request;
        const isTable = choosesTable(request, { format: query.format, otherwise: ndjson });
        const filter = toFilter(query);
        const read: ReadPart = (place) =>
          scanHistory.exportScans(inEvent({ place, isTable, ...filter }), { signal, timeoutMs: readMs });
        await takeTurn(request, 1);
        const first = await read(undefined);
        const type = isTable ? `${csv}; charset=utf-8` : ndjson;
        const headers = {
          ...asAttachment(isTable ? "checkins.csv" : "checkins.ndjson"),
          "X-Accel-Buffering": "no",
          Vary: "Accept, Accept-Encoding, Accept-Language",
        };
        if (isHead) return { status: "ok", type, headers, body: Readable.from([]) };
        const lines = readAhead(first, read);
        return acceptsCoding(request.header("Accept-Encoding"), "gzip")
          ? { status: "ok", type, headers: { ...headers, "Content-Encoding": "gzip" }, body: zip(lines) }
          : { status: "ok", type, headers, body: Readable.from(lines) };
      },
    }),
  };
}

type ReadPart = (place: ExportPlace | undefined) => Promise<ExportScansResponse>;

/** Hands over the lines of all parts; the next part is read while the client takes one. */
async function* readAhead(first: ExportScansResponse, read: ReadPart): AsyncGenerator<Buffer> {
  for (let part: ExportScansResponse | undefined = first; part !== undefined; ) {
    const next: Promise<ExportScansResponse> | undefined = part.next && read(part.next);
    // It is waited for only when the client has taken this part.
    next?.catch(() => {});
    if (part.lines.length > 0) yield Buffer.from(part.lines);
    part = await next;
  }
}
