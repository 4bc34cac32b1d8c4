import { PDFDocument } from "@cantoo/pdf-lib";
import { drawPdf, readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, expect, it } from "vitest";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import { aCode, aContainer, anArea, anImage } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import { Stamps } from "./stamps.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

const count = 12;

/** Texts of all kinds, shared by tickets and of their own. */
function elementsOf(index: number): ResolvedElement[] {
  return [
    aContainer(`Guest ${index}`, { bottom: 240, bold: true }),
    aContainer("Summer festival", { bottom: 200, height: 20, fontSize: 20, verticalAlign: "middle", align: "center" }),
    aContainer("Far too many words for such a small box ".repeat(4), { bottom: 180, height: 8, isAutoresized: true }),
    anArea("up\nand\nup", { bottom: 150, italic: true, rotation: 30 }),
    anArea("downwards תל אביב مرحبا 東京", { bottom: 120, downward: true, lineHeight: 1.2, color: [200, 0, 0] }),
    anArea(index % 2 === 0 ? "even" : "odd", { bottom: 90, align: "right" }),
    anArea(`Seat ${index}`, { bottom: 80 }),
    anArea("   ", { bottom: 70 }),
    aCode(`secret ${index}`, { left: 150, size: 30 }),
  ];
}

const tickets = Array.from({ length: count }, (_, index) => ({ elements: elementsOf(index), background: null }));

it("[L35.5] texts that tickets have in common are where they are on a ticket alone", async () => {
  const { pages } = await readPdf(await renderer.render(tickets));
  expect(pages).toHaveLength(count);
  for (const [index, ticket] of tickets.entries()) {
    const alone = await readPdf(await renderer.render([ticket]));
    const sorted = (texts: (typeof pages)[number]["texts"] = []) =>
      texts
        .map(({ text, x, y, size, rotation }) =>
          [text, ...[x, y, size, rotation].map((value) => value.toFixed(2))].join(),
        )
        .toSorted();
    expect(sorted(pages[index]?.texts)).toEqual(sorted(alone.pages[0]?.texts));
  }
});

it("[L35.5] they look the same, too", async () => {
  const together = await drawPdf(await renderer.render(tickets), { page: 7 });
  const alone = await drawPdf(await renderer.render(tickets.slice(6, 7)));
  const different = alone.pixels.filter((value, at) => Math.abs(value - (together.pixels[at] ?? 0)) > 8);
  expect(different.length).toBe(0);
  expect(alone.pixels.filter((value) => value < 128).length).toBeGreaterThan(1000);
});

it("[L35.5] each is in the file once", async () => {
  const long = Array.from({ length: 400 }, (_, word) => ((word * 7919) % 10_007).toString(36)).join(" ");
  const sizeOf = async (tickets: number, textOf: (index: number) => string) => {
    const all = Array.from({ length: tickets }, (_, index) => ({
      elements: [aContainer(textOf(index), { height: 250, bottom: 20, width: 170 })],
      background: null,
    }));
    return (await renderer.render(all)).length;
  };
  const growthOf = async (textOf: (index: number) => string) => (await sizeOf(60, textOf)) - (await sizeOf(10, textOf));
  expect(await growthOf(() => long)).toBeLessThan(50 * 400);
  expect(await growthOf((index) => `${index} ${long}`)).toBeGreaterThan(50 * 1000);
});

it("[L34.1] lie under what comes before them in the layout on no ticket", async () => {
  const block = (value: string, color: readonly [number, number, number]) => anArea(value, { fontSize: 80, color });
  const layouts: Record<string, (index: number) => ResolvedElement[]> = {
    "over a text of one ticket": (index) => [block(`█${index}`, [255, 0, 0]), block("█", [0, 0, 255])],
    "over a missing picture": () => [anImage(), block("█", [0, 0, 255])],
    "over a code": (index) => [aCode(`secret ${index}`), block("█", [0, 0, 255])],
    "over another": () => [block("█", [255, 0, 0]), block("█", [0, 0, 255])],
  };
  for (const [name, elements] of Object.entries(layouts)) {
    const all = Array.from({ length: 5 }, (_, index) => ({ elements: elements(index), background: null }));
    const { colorAt } = await drawPdf(await renderer.render(all), { page: 4 });
    expect(colorAt(28, 112), name).toEqual([0, 0, 255]);
  }
});

it("[L27.3, L29.4] warnings name each ticket", async () => {
  const elements = (index: number) => [
    anArea(`Ticket ${index}`, { bottom: 200 }),
    aContainer("word ".repeat(1000), { height: 1, isAutoresized: true }),
    anArea("\u{10FFFF}", { bottom: 30 }),
  ];
  const all = Array.from({ length: 150 }, (_, index) => ({ elements: elements(index), background: null }));
  await renderer.render(all);
  for (const [element, code] of [
    [1, "text_too_long"],
    [2, "letters_missing"],
  ] as const) {
    const told = renderer.warnings.filter((warning) => warning.code === code);
    // Chunks are printed concurrently, and end in any order.
    expect(told.sort((one, other) => one.ticket - other.ticket)).toEqual(
      all.map((_, ticket) => ({ ticket, element, code })),
    );
  }
});

it("[L33.2, L35.5] are where they belong on pages of any size", async () => {
  const document = await PDFDocument.create();
  for (const size of [
    [595.276, 841.89],
    [200, 100],
    [842, 1191],
  ] as const)
    document.addPage([...size]);
  const elements = [1, 2, 3, 4, 0].map((page) => aContainer("common", { page, left: 3, bottom: 5, height: 20 }));
  const background = { id: "three", bytes: await document.save() };
  const all = Array.from({ length: 8 }, (_, index) => ({ elements, background: index % 2 === 0 ? background : null }));
  const { pages } = await readPdf(await renderer.render(all));
  expect(pages).toHaveLength(4 * 3 + 4);
  const baseline = 25 - 12 * (25.4 / 72);
  for (const { texts } of pages)
    expect(texts.map(({ text, x, y }) => [text, x.toFixed(1), y.toFixed(1)])).toEqual([
      ["common", "3.0", baseline.toFixed(1)],
    ]);
});

const [small, large] = [
  { width: 100, height: 100 },
  { width: 200, height: 200 },
];

it("a text is a stamp once three pages of one size have it, and stays one", () => {
  const stamps = new Stamps();
  const texts = [small, small, small, large, large].map((size) => [anArea("A"), size] as const);
  const first = stamps.forChunk(texts);
  expect(texts.map(([text, size]) => first.numberOf(text, size))).toEqual([0, 0, 0, undefined, undefined]);
  expect(first.fresh).toMatchObject([{ number: 0, width: 100, height: 100 }]);
  const [again, other] = [anArea("A"), anArea("B")];
  const second = stamps.forChunk([
    [again, small],
    [other, small],
  ]);
  expect([second.numberOf(again, small), second.numberOf(other, small), second.fresh]).toEqual([0, undefined, []]);
});

it("a file has a thousand stamps at most", () => {
  const stamps = new Stamps();
  const texts = Array.from({ length: 1200 }, (_, index) =>
    Array.from({ length: 3 }, () => anArea(String(index))),
  ).flat();
  const chunk = stamps.forChunk(texts.map((text) => [text, small] as const));
  expect(texts.filter((text) => chunk.numberOf(text, small) !== undefined)).toHaveLength(3000);
  expect(chunk.fresh).toHaveLength(1000);
});
