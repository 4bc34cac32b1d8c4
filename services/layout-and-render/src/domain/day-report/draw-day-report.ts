import { busyQuarters, formatInstant, hasScans, zoneOffset } from "@tessera/values";
import { escapeHtml } from "../drawing/escape-html.ts";
import type { Counted, DayReport, ScansBySource } from "./day-report.ts";
import { drawBars, drawInside, drawLegend, mm } from "./draw-chart.ts";
import { type Language, languageOf } from "./wording.ts";

/** Of a page, in millimetres. */
export const pageSize = { width: 210, height: 297 } as const;

const margin = 15;
const right = pageSize.width - margin;
const bottom = pageSize.height - 20;
const rowHeight = 4.6;

/** The most rows of a table, so that a report has few pages. */
const mostRows = 120;

/** Longer names would reach into the numbers. */
const mostLetters = 62;

/** Draws the pages of a report, each as the content of an SVG in millimetres. */
export function drawDayReport(report: DayReport): string[] {
  const language = languageOf(report.locale);
  const pages = new Pages();
  drawHead(pages, report, language);
  drawCharts(pages, report, language);
  for (const table of tablesOf(report, language)) drawTable(pages, table);
  return pages.finish(`${report.eventName} · ${language.writeDate(report.date)} · ${report.timezone}`);
}

/** Pages that are filled from the top. */
class Pages {
  readonly #pages: string[][] = [[]];
  y: number = margin;

  add(content: string): void {
    this.#pages.at(-1)?.push(content);
  }

  /** Begins a page where the current one has no such room; says whether it did. */
  make(room: number): boolean {
    if (this.y + room <= bottom) return false;
    this.#pages.push([]);
    this.y = margin;
    return true;
  }

  finish(foot: string): string[] {
    const count = this.#pages.length;
    return this.#pages.map((page, index) => {
      const y = pageSize.height - 10;
      const number =
        count > 1 ? write(`${index + 1} / ${count}`, { x: right, y, size: 2.6, anchor: "end", color: grey }) : "";
      return [...page, write(foot, { x: margin, y, size: 2.6, color: grey }), number].join("");
    });
  }
}

const grey = "#667";

interface Style {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly anchor?: "start" | "end";
  readonly color?: string;
  readonly isBold?: boolean;
}

function write(text: string, { x, y, size, anchor = "start", color = "#111", isBold = false }: Style): string {
  const weight = isBold ? ' font-weight="700"' : "";
  return `<text x="${mm(x)}" y="${mm(y)}" font-size="${size}" text-anchor="${anchor}" fill="${color}"${weight}>${escapeHtml(shorten(text))}</text>`;
}

function shorten(text: string): string {
  const letters = [...text];
  return letters.length > mostLetters ? `${letters.slice(0, mostLetters - 1).join("")}…` : text;
}

function wallClock(at: number | undefined, timezone: string): string {
  return at === undefined ? "–" : formatInstant(at + zoneOffset(at, timezone)).slice(11, 16);
}

function drawHead(pages: Pages, report: DayReport, { words, writeCount, writeDate }: Language): void {
  const { timezone, quarters, peak, peakAt } = report;
  pages.add(write(report.eventName, { x: margin, y: 21, size: 6, isBold: true }));
  const list = report.listName ?? words.allLists;
  pages.add(write(`${words.title} ${writeDate(report.date)} · ${list}`, { x: margin, y: 28, size: 4, color: grey }));
  const total = (what: keyof Counted) => writeCount(quarters.reduce((sum, { scans }) => sum + scans[what], 0));
  const figures = [
    [words.entered, writeCount(report.entered)],
    [words.entries, total("entries")],
    [words.exits, total("exits")],
    [words.refusals, total("refusals")],
    [words.peak, `${writeCount(peak)} · ${wallClock(peakAt, timezone)}`],
    [words.scans, `${wallClock(report.firstAt, timezone)} – ${wallClock(report.lastAt, timezone)}`],
  ] as const;
  for (const [index, [name, value]] of figures.entries()) {
    const [x, y] = [margin + (index % 3) * 61, 34 + Math.floor(index / 3) * 18];
    pages.add(`<rect x="${mm(x)}" y="${mm(y)}" width="58" height="15.5" rx="1.2" fill="#f1f4f8"/>`);
    pages.add(write(name, { x: x + 3, y: y + 5, size: 2.8, color: grey }));
    pages.add(write(value, { x: x + 3, y: y + 12, size: 5, isBold: true }));
  }
  pages.y = 76;
}

function drawCharts(pages: Pages, { quarters }: DayReport, { words, writeCount }: Language): void {
  const shown = busyQuarters(quarters, ({ scans }) => scans).map(({ local, scans, inside }) => ({
    local,
    ...scans,
    inside,
  }));
  const place = { left: margin + 12, width: right - margin - 12, writeCount };
  pages.add(write(words.perQuarter, { x: margin, y: pages.y, size: 3.4, isBold: true }));
  pages.add(drawLegend([words.entries, words.exits], { right, y: pages.y }));
  pages.add(drawBars(shown, { ...place, top: pages.y + 4, height: 48 }));
  pages.y += 66;
  pages.add(write(words.insideAtEnd, { x: margin, y: pages.y, size: 3.4, isBold: true }));
  pages.add(drawInside(shown, { ...place, top: pages.y + 4, height: 32 }));
  pages.y += 50;
}

interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly more: string;
}

function tablesOf(report: DayReport, { words, writeCount, writeReason }: Language): Table[] {
  const columns = [words.entries, words.exits, words.refusals];
  const numbers = ({ entries, exits, refusals }: Counted) => [entries, exits, refusals].map(writeCount);
  const { more } = words;
  const tableOf = (title: string, some: readonly ScansBySource[], none: string): Table => ({
    ...{ title, columns, more },
    rows: some.map(({ id, name, scans }) => [name ?? (id === undefined ? none : String(id)), ...numbers(scans)]),
  });
  return [
    tableOf(words.lists, report.lists, words.allLists),
    {
      ...{ title: words.products, columns, more },
      rows: report.products.map(({ item, itemName, variationName, scans }) => {
        const name = itemName ?? (item === undefined ? words.noTicket : String(item));
        return [variationName === undefined ? name : `${name} – ${variationName}`, ...numbers(scans)];
      }),
    },
    {
      ...{ title: words.reasons, columns: [words.count], more },
      rows: report.reasons.map(({ reason, count }) => [writeReason(reason), writeCount(count)]),
    },
    tableOf(words.gates, report.gates, words.noGate),
    tableOf(words.devices, report.devices, words.noDevice),
    {
      ...{ title: words.quarters, columns: [...columns, words.inside], more },
      rows: report.quarters
        .filter(({ scans }) => hasScans(scans))
        .map(({ local, scans, inside }) => [local, ...numbers(scans), writeCount(inside)]),
    },
  ].filter(({ rows }) => rows.length > 0);
}

function drawTable(pages: Pages, { title, columns, rows, more }: Table): void {
  const shown = rows.slice(0, mostRows);
  pages.make(3 * rowHeight + 8);
  drawTitle(pages, title, columns);
  for (const [name = "", ...numbers] of shown) {
    if (pages.make(rowHeight)) drawTitle(pages, title, columns);
    pages.add(`<path d="M${margin} ${mm(pages.y + 1.4)}H${right}" stroke="#e3e7ec" stroke-width="0.15"/>`);
    pages.add(write(name, { x: margin, y: pages.y, size: 3 }));
    for (const [index, number] of numbers.entries()) {
      pages.add(write(number, { x: columnAt(index, numbers.length), y: pages.y, size: 3, anchor: "end" }));
    }
    pages.y += rowHeight;
  }
  if (rows.length > shown.length) {
    pages.add(write(`+ ${rows.length - shown.length} ${more}`, { x: margin, y: pages.y, size: 3, color: grey }));
    pages.y += rowHeight;
  }
  pages.y += 7;
}

function drawTitle(pages: Pages, title: string, columns: readonly string[]): void {
  pages.y += 4;
  pages.add(write(title, { x: margin, y: pages.y, size: 3.4, isBold: true }));
  for (const [index, column] of columns.entries()) {
    const x = columnAt(index, columns.length);
    pages.add(write(column, { x, y: pages.y, size: 2.6, anchor: "end", color: grey }));
  }
  pages.y += rowHeight + 1;
}

/** Where the numbers of a column end. */
function columnAt(index: number, count: number): number {
  return right - (count - 1 - index) * 22;
}
