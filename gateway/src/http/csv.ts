import { Readable } from "node:stream";
import { type Cell, writeCsvLine } from "@tessera/values";
import { prefers } from "./accepts.ts";
import type { Incoming } from "./route.ts";

export const csv = "text/csv";

/** Whether the client wants the table: because `format` says so, or because it does not accept the usual type. */
export function choosesTable(
  request: Pick<Incoming, "header">,
  { format, otherwise }: { readonly format: string | undefined; readonly otherwise: string },
): boolean {
  return format === undefined ? prefers(request, csv, otherwise) : format === "csv";
}

/** Streams a table, part by part, as fast as its reader takes it. */
export function streamCsv(head: readonly string[], parts: AsyncIterable<readonly (readonly Cell[])[]>): Readable {
  async function* lines() {
    yield writeCsvLine(head);
    for await (const rows of parts) if (rows.length > 0) yield rows.map(writeCsvLine).join("");
  }
  return Readable.from(lines(), { objectMode: false });
}
