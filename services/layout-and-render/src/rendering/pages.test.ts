import { inflateSync } from "node:zlib";
import { degrees, PDFDocument, PDFName, PDFNumber, type PDFRef, PDFString, rgb } from "@cantoo/pdf-lib";
import { drawPdf, readPdf } from "@tessera/testkit/read-pdf";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { afterAll, describe, expect, it } from "vitest";
import { defaultLayout } from "../domain/elements/default-layout.ts";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import { aCode, aMark, anArea, anImage } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import { type RenderRequest, renderTickets } from "./render-tickets.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

/** A page with a red square of 10 mm at the lower left of the visible part. */
async function aPage({
  rotation = 0,
  crop = false,
  size = [400, 300] as [number, number],
  unit = 1,
} = {}): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage(size);
  page.setRotation(degrees(rotation));
  const [left, bottom, right, top] = crop ? [50, 40, size[0] - 30, size[1] - 20] : [0, 0, size[0], size[1]];
  if (crop) page.setCropBox(left, bottom, right - left, top - bottom);
  // `UserUnit`: points per unit.
  page.node.set(PDFName.of("UserUnit"), PDFNumber.of(unit));
  const side = 28.35 / unit;
  // After a clockwise rotation another corner is at the lower left.
  const corners = {
    0: [left, bottom],
    90: [right - side, bottom],
    180: [right - side, top - side],
    270: [left, top - side],
  };
  const [x = 0, y = 0] = corners[rotation as keyof typeof corners];
  page.drawRectangle({ x, y, width: side, height: side, color: rgb(1, 0, 0) });
  return document.save();
}

describe("a background", () => {
  it.each([
    [0, false, 1],
    [90, false, 1],
    [180, false, 1],
    [270, false, 1],
    [0, true, 1],
    [90, true, 2],
    [180, true, 1],
    [270, true, 0.5],
  ])("[L33.1] is seen as it is alone: turned by %d, cropped: %s, in units of %d", async (rotation, crop, unit) => {
    const pdf = await renderer.renderElements(
      [anArea("Here", { left: 15, bottom: 3, fontSize: 20 })],
      await aPage({ rotation, crop, unit }),
    );
    const { pages } = await readPdf(pdf);
    const [width = 0, height = 0] = (crop ? [320, 240] : [400, 300]).map((side) => side * unit);
    expect([pages[0]?.width, pages[0]?.height]).toEqual(rotation % 180 === 0 ? [width, height] : [height, width]);
    expect(pages[0]?.texts[0]?.x).toBeCloseTo(15, 1);
    expect(pages[0]?.texts[0]?.y).toBeCloseTo(3 + 0.2456 * 20 * (25.4 / 72), 1);
    const { colorAt } = await drawPdf(pdf);
    expect(colorAt(1, 1)).toEqual([255, 0, 0]);
    expect(colorAt(9, 9)).toEqual([255, 0, 0]);
    expect(colorAt(11, 11)).toEqual([255, 255, 255]);
  });

  it("[L33.8] shows and hides its layers as it does alone", async () => {
    const document = await PDFDocument.create();
    const page = document.addPage([300, 300]);
    const { context } = document;
    const layers = ["shown", "hidden"].map((name) =>
      context.register(context.obj({ Type: "OCG", Name: PDFString.of(name) })),
    );
    const [shown, hidden] = layers as [PDFRef, PDFRef];
    page.node.set(PDFName.Resources, context.obj({ Properties: { Shown: shown, Hidden: hidden } }));
    const content =
      "/OC /Shown BDC 1 0 0 rg 0 0 99 99 re f EMC /OC /Hidden BDC 0 0 1 rg 0 0 99 99 re f 100 100 99 99 re f EMC";
    page.node.set(PDFName.Contents, context.register(context.stream(content)));
    for (const states of [{ OFF: [hidden] }, { BaseState: "OFF", ON: [shown] }]) {
      document.catalog.set(PDFName.of("OCProperties"), context.obj({ OCGs: layers, D: states }));
      const bytes = await document.save();
      const pdf = await renderer.renderElements([anArea("Over it", { left: 5, bottom: 60 })], bytes);
      const { colorAt } = await drawPdf(pdf);
      expect([colorAt(10, 10), colorAt(50, 50)]).toEqual([
        [255, 0, 0],
        [255, 255, 255],
      ]);
    }
  });

  it("[L33.2] gives each ticket as many pages as it has, each of its own size; what stands on others is not drawn", async () => {
    const document = await PDFDocument.create();
    for (const size of [
      [595.276, 841.89],
      [200, 100],
      [842, 1191],
    ] as const)
      document.addPage([...size]);
    const elements = [1, 2, 3, 4, 0, -1, 1.5].map((page) => anArea(`page ${page}`, { page, left: 5, bottom: 5 }));
    const background = { id: "three", bytes: await document.save() };
    const { pages } = await readPdf(
      await renderer.render([
        { elements, background },
        { elements, background },
      ]),
    );
    expect(pages.map(({ width, height, texts }) => [width, height, ...texts.map(({ text }) => text)])).toEqual(
      [1, 2].flatMap(() => [
        [595.276, 841.89, "page 1"],
        [200, 100, "page 2"],
        [842, 1191, "page 3"],
      ]),
    );
  });

  it("[L33.3] is in the file once, however many tickets have it", async () => {
    const bytes = await aPage();
    const sizeOf = async (count: number) =>
      (
        await renderer.render(
          Array.from({ length: count }, () => ({ elements: [], background: { id: "once", bytes } })),
        )
      ).length;
    const [one, two, eleven] = [await sizeOf(1), await sizeOf(2), await sizeOf(11)];
    expect(eleven - one).toBeLessThan(10 * (two - one) + 100);
    expect(two - one).toBeLessThan(300);
  });

  it("[L33.4] that cannot be read fails with a message", async () => {
    const broken = renderer.render([
      { elements: [], background: { id: "broken", bytes: Buffer.from("%PDF-1.4 nothing") } },
    ]);
    await expect(broken).rejects.toMatchObject({ kind: "unmet", code: "background_unusable" });
  });

  it("[L33.5] of a later version of PDF makes the file one of that version", async () => {
    const pdf = await renderer.renderElements([], await aPage());
    expect(pdf.toString("latin1")).toMatch(/\/Version \/1\.7/);
  });
});

describe("a file", () => {
  const ticket = (index: number) => ({
    elements: [anArea(`Ticket ${index}`), aCode(`secret ${index}`, { left: 100 })],
    background: null,
  });

  it("[L35.1] has its title and its language", async () => {
    const read = await readPdf(
      await renderer.render([ticket(1)], { title: "Eintrittskarte – „Фест“", language: "de-AT" }),
    );
    expect(read).toMatchObject({ title: "Eintrittskarte – „Фест“", language: "de-AT" });
  });

  it("[L35.2] is the same for the same tickets, but for its date", async () => {
    const tickets = Array.from({ length: 30 }, (_, index) => ticket(index));
    const [one, two] = [await renderer.render(tickets), await renderer.render(tickets)];
    expect(one.equals(two)).toBe(true);
    const later = await renderer.render(tickets, { createdAt: new Date("2028-02-03T04:05:06Z") });
    expect(later.length).toBe(one.length);
    expect(later.toString("latin1").replaceAll("20280203040506", "20270101000000")).toBe(one.toString("latin1"));
  });

  it.each([1e300, -1e300, 1.7e308])(
    "[L35.4] has numbers that readers know, however large a layout is: %d",
    async (size) => {
      const bytes = aPhoto();
      const place = { left: size, bottom: size };
      const elements = [
        aCode("x", { size }),
        aCode("x", place),
        aMark({ size, ...place }),
        aMark(place),
        anImage(place),
        anImage({ width: size, height: size }),
      ];
      const pdf = await renderer.render([{ elements, background: null }], {
        readImages: async (images) => images.map(() => ({ type: "image/jpeg", bytes })),
      });
      const drawn = [...pdf.toString("latin1").matchAll(/FlateDecode \/Length \d+>>stream\n([\s\S]*?)\nendstream/g)]
        .map(([, content = ""]) => inflateSync(Buffer.from(content, "latin1")).toString("latin1"))
        .filter((content) => content.includes("TesseraDark Do"));
      expect(drawn).toHaveLength(1);
      expect(drawn.join("")).not.toMatch(/NaN|Infinity|\de/);
    },
  );

  it("[L35.3] has its tickets in their order, and comes in pieces", async () => {
    const count = 230;
    const pieces: Buffer[] = [];
    const request: RenderRequest = {
      tickets: Array.from({ length: count }, (_, index) => ticket(index)),
      title: "",
      language: "en",
      issuer: "https://tickets.example",
      party: "one",
      createdAt: new Date(0),
      readImages: async (images) => images.map(() => undefined),
    };
    for await (const piece of renderTickets(request, renderer.tools)) pieces.push(piece);
    expect(pieces.filter(({ length }) => length > 1000).length).toBeGreaterThan(2);
    const { pages } = await readPdf(Buffer.concat(pieces));
    expect(pages.map(({ texts }) => texts[0]?.text)).toEqual(
      Array.from({ length: count }, (_, index) => `Ticket ${index}`),
    );
  });

  it("[L35.4] is whole: every object is where its table says", async () => {
    const pdf = await renderer.render(Array.from({ length: 70 }, (_, index) => ticket(index)));
    const text = pdf.toString("latin1");
    const [, start = ""] = /startxref\n(\d+)\n%%EOF\n$/.exec(text) ?? [];
    const entries = text.slice(Number(start)).match(/^\d{10} 00000 n $/gm) ?? [];
    expect(entries.length).toBeGreaterThan(140);
    for (const [index, entry] of entries.entries())
      expect(text.slice(Number(entry.slice(0, 10))).startsWith(`${index + 1} 0 obj\n`)).toBe(true);
    expect((await PDFDocument.load(new Uint8Array(pdf), { throwOnInvalidObject: true })).getPageCount()).toBe(70);
  });
});

describe("the built-in design", () => {
  it("[L36.1] stands on an A4 page, and fits it", async () => {
    const values: Record<string, string> = {
      event_name: "Festival",
      secret: "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
      order: "F8VVL",
    };
    const elements = defaultLayout.flatMap((element): ResolvedElement[] => {
      if (element.type === "poweredby") return [element];
      if (element.type === "imagearea") return [];
      const value = values[element.content] ?? `a long ${element.content} `.repeat(9);
      return element.type === "barcodearea" ? [{ ...element, value }] : [{ ...element, value, language: "en" }];
    });
    const { pages } = await readPdf(await renderer.renderElements(elements));
    expect(pages[0]?.width).toBeCloseTo(595.276, 2);
    expect(pages[0]?.height).toBeCloseTo(841.89, 2);
    expect(renderer.warnings).toEqual([]);
    for (const { x, y, width, size } of pages[0]?.texts ?? []) {
      if (size < 0.1) continue;
      expect(x).toBeGreaterThan(27.9);
      expect(x + width).toBeLessThan(197);
      expect(y).toBeGreaterThan(186);
      expect(y).toBeLessThan(287);
    }
  });
});
