import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, describe, expect, it } from "vitest";
import type { DayReport } from "../domain/day-report/day-report.ts";
import { drawDayReport } from "../domain/day-report/draw-day-report.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import { reportJob } from "./print-report.ts";

const midnight = (Date.UTC(2026, 9, 24, 22) * 1_000_000) / 1000;

/** A day whose clocks are put back; visitors come from nine to five. */
const quarters = Array.from({ length: 100 }, (_, index) => {
  const at = new Date(midnight / 1000 + index * 900_000 + (index < 12 ? 2 : 1) * 3_600_000);
  const isOpen = index >= 40 && index < 72;
  const entries = isOpen ? Math.round(60 * Math.sin(((index - 40) / 32) * Math.PI)) : 0;
  return {
    local: at.toISOString().slice(11, 16),
    scans: { entries, exits: isOpen ? Math.floor((index - 40) * 1.2) : 0, refusals: isOpen && index % 5 === 0 ? 3 : 0 },
    inside: isOpen ? (72 - index) * 20 : 0,
  };
});

const scans = { entries: 1221, exits: 580, refusals: 21 };

const report: DayReport = {
  ...{
    date: "2026-10-25",
    timezone: "Europe/Berlin",
    eventName: "Böhme & Söhne <Live>",
    locale: "en",
    listName: "Door",
  },
  ...{ quarters, entered: 1180, firstAt: midnight + 40 * 900e6, lastAt: midnight + 72 * 900e6, peak: 1640 },
  peakAt: midnight + 50 * 900e6,
  products: [
    { item: 1, itemName: "Day ticket", variationName: "Red", scans },
    { item: 2, itemName: "A product whose name is so long that it would reach into the numbers of its row", scans },
    { scans: { entries: 0, exits: 0, refusals: 3 } },
  ],
  lists: [{ id: 1, name: "Door", scans }],
  gates: [{ id: 2, scans }, { scans }],
  devices: Array.from({ length: 30 }, (_, index) => ({ id: index + 1, scans })),
  reasons: [
    { reason: "already_redeemed", count: 18 },
    { reason: "unpaid", count: 3 },
    { reason: "unknown_here", count: 1 },
  ],
};

describe("[C9.9] a printed report", () => {
  const renderer = openTestRenderer();
  afterAll(() => renderer.close());

  const print = async (changes: Partial<DayReport> = {}) => {
    const whole = { ...report, ...changes };
    const job = reportJob(drawDayReport(whole), renderer.tools.fonts, whole);
    const { pdf } = await renderer.tools.printer.print(job, { party: "bigevents", isShort: true });
    return (await readPdf(pdf)).pages;
  };

  it("has totals, counts and all quarters with scans on A4 pages", async () => {
    const pages = await print();
    expect(pages.length).toBeGreaterThan(1);
    for (const { width, height } of pages) {
      expect(width).toBeCloseTo(595, -1);
      expect(height).toBeCloseTo(842, -1);
    }
    const texts = pages.flatMap(({ texts: some }) => some.map(({ text }) => text));
    expect(texts).toEqual(
      expect.arrayContaining([
        ...["Böhme & Söhne <Live>", "Report of the day 2026-10-25 · Door", "1,180", "Day ticket – Red"],
        ...["Codes without a ticket", "At no gate", "Already scanned", "unknown_here", "08:00", "1 / 3"],
      ]),
    );
  });

  it("is German where the event is, and empty where nothing was scanned", async () => {
    const none = { entries: 0, exits: 0, refusals: 0 };
    const empty = quarters.map((quarter) => ({ ...quarter, scans: none, inside: 0 }));
    const nothing = {
      products: [],
      lists: [],
      gates: [],
      devices: [],
      reasons: [{ reason: "unpaid", count: 1 }],
      firstAt: undefined,
      lastAt: undefined,
    };
    const pages = await print({
      locale: "de-informal",
      quarters: empty,
      ...nothing,
      peak: 0,
      peakAt: midnight,
      listName: undefined,
    });
    expect(pages).toHaveLength(1);
    const texts = pages[0]?.texts.map(({ text }) => text);
    expect(texts).toEqual(
      expect.arrayContaining(["Tagesbericht 25.10.2026 · Alle Listen", "0 · 00:00", "– – –", "Nicht bezahlt"]),
    );
  });
});
