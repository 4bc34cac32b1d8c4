import { type PdfText, readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, describe, expect, it } from "vitest";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import { aContainer, anArea } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

/** In millimetres. */
const tolerance = 0.1;
const mm = 25.4 / 72;

async function textsOf(...elements: ResolvedElement[]): Promise<readonly PdfText[]> {
  const { pages } = await readPdf(await renderer.renderElements(elements));
  return pages[0]?.texts ?? [];
}

function expectAt(text: PdfText | undefined, x: number, y: number): void {
  expect(Math.abs((text?.x ?? 0) - x), `x of ${JSON.stringify(text)}, not ${x}`).toBeLessThan(tolerance);
  expect(Math.abs((text?.y ?? 0) - y), `y of ${JSON.stringify(text)}, not ${y}`).toBeLessThan(tolerance);
}

const sizes = [6, 9.5, 12, 13, 48];
const lineHeights = [0.5, 1, 1.4, 2];
const styles = [
  { bold: false, italic: false },
  { bold: true, italic: false },
  { bold: false, italic: true },
  { bold: true, italic: true },
];

describe("a text area", () => {
  it("[L25.1] without a line height grows upwards: lines of 1.0054, and of 1.0735 after a line that was ended", async () => {
    for (const fontSize of sizes) {
      const fs = fontSize * mm;
      const d = 0.2402 * fs;
      for (const value of ["Hx", "Hx\nHx", "Hx\nHx\nHx"]) {
        const texts = await textsOf(anArea(value, { fontSize, width: 180 }));
        const lines = value.split("\n").length;
        const first = 100 + lines * 1.0054 * fs + d - fs;
        expect(texts).toHaveLength(lines);
        for (const [index, text] of texts.entries()) expectAt(text, 20, first - index * 1.0735 * fs);
      }
    }
  });

  it("[L25.1] advances by 1.0054 where a line was full", async () => {
    const fs = 12 * mm;
    const [first, second, ...others] = await textsOf(anArea("Hxxxxxxxxx Hxxxxxxxxx", { width: 30 }));
    expect(others).toEqual([]);
    expectAt(first, 20, 100 + 2 * 1.0054 * fs + 0.2402 * fs - fs);
    expectAt(second, 20, 100 + 1.0054 * fs + 0.2402 * fs - fs);
  });

  it("[L25.2] with a line height grows upwards by 1.15 of it", async () => {
    for (const fontSize of sizes) {
      for (const lineHeight of lineHeights) {
        const fs = fontSize * mm;
        const leading = 1.15 * lineHeight * fs;
        const texts = await textsOf(anArea("Hx\nHx", { fontSize, lineHeight, width: 180 }));
        expect(texts).toHaveLength(2);
        const first = 100 + 2 * leading + 0.2402 * fs - (1.15 * lineHeight - 1) * 1.05 * fs - fs;
        for (const [index, text] of texts.entries()) expectAt(text, 20, first - index * leading);
      }
    }
  });

  it("[L25.3] that is downward hangs from its lower edge", async () => {
    for (const fontSize of sizes) {
      for (const lineHeight of [undefined, ...lineHeights]) {
        const fs = fontSize * mm;
        const advance = lineHeight === undefined ? 1.0735 * fs : 1.15 * lineHeight * fs;
        const texts = await textsOf(anArea("Hx\nHx", { fontSize, lineHeight, downward: true, width: 180 }));
        expect(texts).toHaveLength(2);
        const first = 100 - fs + 0.4 * 0.2402 * fs;
        for (const [index, text] of texts.entries()) expectAt(text, 20, first - index * advance);
      }
    }
  });

  it.each([30, 90, 180, 270, 345, -45, 390])(
    "[L25.4] turns clockwise about the upper left corner of its lines: %d°",
    async (rotation) => {
      const turn = (rotation * Math.PI) / 180;
      const fs = 14 * mm;
      const at = (x: number, y: number) => [
        x * Math.cos(turn) + y * Math.sin(turn),
        y * Math.cos(turn) - x * Math.sin(turn),
      ];
      const place = { left: 100, bottom: 150, width: 60, fontSize: 14, rotation };
      const [legacy] = await textsOf(anArea("Hello", place));
      const top = 150 + 1.0054 * fs;
      const [x = 0, y = 0] = at(0, -(1 - 0.2402) * fs);
      expectAt(legacy, 100 + x, top + y);
      const [downward] = await textsOf(anArea("Hello", { ...place, downward: true, lineHeight: 1 }));
      const [dx = 0, dy = 0] = at(0, -(1 - 0.4 * 0.2402) * fs);
      expectAt(downward, 100 + dx, 150 + dy);
      for (const text of [legacy, downward])
        expect(Math.cos(((text?.rotation ?? 0) * Math.PI) / 180 - turn), `${text?.rotation}`).toBeCloseTo(1, 5);
    },
  );

  it("[L25.5] is aligned within its width, in every style", async () => {
    for (const style of styles) {
      for (const align of ["left", "center", "right"] as const) {
        const [text] = await textsOf(anArea("Aligned", { ...style, align, left: 30, width: 100 }));
        const free = 100 - (text?.width ?? 0);
        expectAt(text, 30 + { left: 0, center: free / 2, right: free }[align], text?.y ?? 0);
        expect(text?.y).toBeCloseTo(100 + (1.0054 + 0.2402 - 1) * 12 * mm, 0);
      }
    }
  });
});

describe("a text container", () => {
  it.each(["top", "middle", "bottom"] as const)("[L26.1] has its lines at the %s of its box", async (verticalAlign) => {
    for (const fontSize of sizes) {
      for (const lineHeight of lineHeights) {
        const fs = fontSize * mm;
        const leading = 1.15 * lineHeight * fs;
        // Three lines of the largest letters overflow the box.
        const texts = await textsOf(aContainer("Hx\nHx\nHx", { fontSize, lineHeight, verticalAlign, width: 180 }));
        const free = 30 - 3 * leading;
        const first = 130 - { top: 0, middle: free / 2, bottom: free }[verticalAlign] - fs;
        expect(texts).toHaveLength(3);
        for (const [index, text] of texts.entries()) expectAt(text, 20, first - index * leading);
      }
    }
  });

  it.each([30, 90, 180, 315])(
    "[L26.2] turns clockwise about the upper left corner of its box: %d°",
    async (rotation) => {
      const turn = (rotation * Math.PI) / 180;
      const fs = 14 * mm;
      const [text] = await textsOf(aContainer("Hello", { left: 100, bottom: 120, fontSize: 14, rotation }));
      expectAt(text, 100 - fs * Math.sin(turn), 150 - fs * Math.cos(turn));
      expect(Math.cos(((text?.rotation ?? 0) * Math.PI) / 180 - turn)).toBeCloseTo(1, 5);
    },
  );

  it("[L26.3] breaks words that are too long, unless they may not be", async () => {
    const word = "Donaudampfschifffahrtsgesellschaftskapitän";
    const broken = await textsOf(aContainer(word, { width: 40 }));
    expect(broken.length).toBeGreaterThan(1);
    for (const { x, width } of broken) expect(x + width).toBeLessThan(60 + tolerance);
    const [whole, ...others] = await textsOf(aContainer(word, { width: 40, splitsLongWords: false }));
    expect(others).toEqual([]);
    expectAt(whole, 20, whole?.y ?? 0);
    expect(whole?.width).toBeGreaterThan(80);
    const [centered] = await textsOf(aContainer(word, { width: 40, splitsLongWords: false, align: "center" }));
    expectAt(centered, 20, centered?.y ?? 0);
  });
});

describe("a text that is resized", () => {
  /** The sizes that shrinking steps through while each line is too high. */
  function stepDown(size: number, { tooHigh }: { tooHigh: (size: number) => boolean }): number {
    let fs = size;
    for (let step = 0; step < 25 && fs > 1 && tooHigh(fs); step += 1) fs -= Math.max(1, fs * 0.1);
    return fs;
  }

  it.each([
    [40, 3, 30],
    [24, 1, 5],
    [13, 2, 6.2],
    [100, 1, 30],
    [12, 2, 30],
  ])(
    "[L27.1] from %d points with %d lines in %d mm becomes smaller by steps until it is low enough",
    async (fontSize, lines, height) => {
      const value = Array.from({ length: lines }, () => "Hx").join("\n");
      const [text] = await textsOf(aContainer(value, { fontSize, height, isAutoresized: true, width: 180 }));
      const expected = stepDown(fontSize, { tooHigh: (fs) => lines * 1.15 * fs * mm > height });
      expect(text?.size).toBeCloseTo(expected, 1);
      expectAt(text, 20, 100 + height - expected * mm);
    },
  );

  it("[L27.2] that is too wide becomes smaller by quarters of a point, or 2.5 %", async () => {
    const options = { fontSize: 30, height: 40, width: 60, splitsLongWords: false };
    const [whole] = await textsOf(aContainer("Hauptstadtfestspiele", options));
    const [text] = await textsOf(aContainer("Hauptstadtfestspiele", { ...options, isAutoresized: true }));
    let fs = 30;
    while (((whole?.width ?? 0) * fs) / 30 > 60) fs -= Math.max(0.25, fs * 0.025);
    expect(text?.size).toBeCloseTo(fs, 0);
    expect(text?.width).toBeLessThan(60 + tolerance);
  });

  it.each([
    ["Hebrew", "שלום".repeat(4)],
    ["Arabic", "أفاستسقيناكموها"],
  ])(
    "[L27.2, L27.3] of a long word in %s stays within its box, or a warning says that it does not",
    async (_, word) => {
      for (const align of ["left", "center", "right"] as const) {
        const options = { left: 80, width: 40, height: 30, fontSize: 24, splitsLongWords: false, align };
        const texts = await textsOf(aContainer(word, { ...options, isAutoresized: true }));
        expect(Math.min(...texts.map(({ x }) => x))).toBeGreaterThan(80 - tolerance);
        expect(Math.max(...texts.map(({ x, width }) => x + width))).toBeLessThan(120 + tolerance);
        expect(renderer.warnings).toEqual([]);
        await renderer.render([{ elements: [aContainer(word, options)], background: null }], { checksFit: true });
        expect(renderer.warnings).toEqual([{ ticket: 0, element: 0, code: "text_too_long" }]);
      }
    },
  );

  it("[L27.3] stops after 25 steps, and says so", async () => {
    const [text] = await textsOf(aContainer("Hx\n".repeat(60), { fontSize: 40, height: 1, isAutoresized: true }));
    const expected = stepDown(40, { tooHigh: () => true });
    expect(text?.size).toBeCloseTo(expected, 1);
    expect(renderer.warnings).toEqual([{ ticket: 0, element: 0, code: "text_too_long" }]);
  });

  it("[L27.3] stops at one point", async () => {
    const [text] = await textsOf(aContainer("Hx\n".repeat(60), { fontSize: 3.5, height: 1, isAutoresized: true }));
    expect(text?.size).toBeCloseTo(0.5, 1);
  });
});
