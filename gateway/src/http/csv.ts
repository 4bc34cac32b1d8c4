import { Readable } from "node:stream";

export const csv = "text/csv";

/** A value of a table; null is an empty cell. */
export type Cell = string | number | null;

/** Writes one line of a table (RFC 4180). */
export function writeCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(writeCell).join(",")}\r\n`;
}

/** A program for tables takes a text that begins with one of these for a formula, and runs it. */
const beginsFormula = /^[=+\-@\t\r\n]/;

function writeCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = beginsFormula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Streams a table, part by part, as fast as its reader takes it. */
export function streamCsv(head: readonly string[], parts: AsyncIterable<readonly (readonly Cell[])[]>): Readable {
  async function* lines() {
    yield writeCsvLine(head);
    for await (const rows of parts) if (rows.length > 0) yield rows.map(writeCsvLine).join("");
  }
  return Readable.from(lines(), { objectMode: false });
}
