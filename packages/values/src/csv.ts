/** A value of a table; null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Writes one line of a table (RFC 4180). */
export function writeCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(writeCell).join(",")}\r\n`;
}

/** A program for tables takes a text that begins with one of these for a formula, and runs it. */
const beginsFormula = /^[=+\-@\t\r\n]/;

function writeCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = beginsFormula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
