import { PDFDocument } from "@cantoo/pdf-lib";
import { drawPdf, readPdf, readQrCode } from "@tessera/testkit/read-pdf";
import { aPhoto } from "@tessera/testkit/sample-photo";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeQr } from "../domain/qr-code.ts";
import { aCode, aContainer, aMark, anArea, anImage } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import type { ImageFile } from "./ticket.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

let blank: Uint8Array;
beforeAll(async () => {
  const document = await PDFDocument.create();
  document.addPage([595.276, 841.89]);
  blank = await document.save();
});

describe("a code", () => {
  it.each(["z3fsn8jyufm5kpk768q69gkbyr5f4h6w", "A1", "1234567890", "x".repeat(129), `{"ä":"${"ö".repeat(300)}"}`])(
    "[L30.1] can be read: %s",
    async (value) => {
      expect(await readQrCode(await renderer.renderElements([aCode(value)], blank))).toBe(value);
    },
  );

  it("[L30.2] has more redundancy the shorter it is", () => {
    // The smallest sides that hold so many bytes at the levels H, M and L.
    expect(encodeQr("x".repeat(32))?.side).toBe(33);
    expect(encodeQr("x".repeat(33))?.side).toBe(29);
    expect(encodeQr("x".repeat(128))?.side).toBe(49);
    expect(encodeQr("x".repeat(129))?.side).toBe(41);
  });

  it("[L30.3] has four modules of free space in its size, unless it has none", async () => {
    const value = "z3fsn8jyufm5kpk768q69gkbyr5f4h6w";
    for (const hasQuietZone of [true, false]) {
      const pdf = await renderer.renderElements(
        [aCode(value, { hasQuietZone, size: 41, left: 50, bottom: 100 })],
        blank,
      );
      const { colorAt } = await drawPdf(pdf, { dpi: 300 });
      const module = hasQuietZone ? 1 : 41 / 33;
      const edge = hasQuietZone ? 4 : 0;
      // The lower left finder begins there, and nothing is painted beside it.
      expect(colorAt(50 + edge + module / 2, 100 + edge + module / 2)).toEqual([0, 0, 0]);
      expect(colorAt(50 + edge + module * 1.5, 100 + edge + module * 1.5)).toEqual([255, 255, 255]);
      expect(colorAt(50 + edge - 0.3, 100 + edge + module / 2)).toEqual([255, 255, 255]);
      expect(colorAt(50 + 41 - edge - module / 2, 141 - edge - module / 2)).toEqual([0, 0, 0]);
    }
  });

  it("[L30.4] has its colour and no ground of its own", async () => {
    const { colorAt } = await drawPdf(
      await renderer.renderElements([aCode("x", { color: [200, 30, 60], hasQuietZone: false })], blank),
    );
    expect(colorAt(20.5, 100.5)).toEqual([200, 30, 60]);
  });

  it("[L30.5] of nothing is not drawn, and of too much neither, which is a warning", async () => {
    const pdf = await renderer.renderElements([aCode(""), aCode("x".repeat(3000))], blank);
    expect(renderer.warnings).toEqual([{ ticket: 0, element: 1, code: "code_too_long" }]);
    expect((await readPdf(pdf)).pages[0]?.texts).toEqual([]);
  });

  it("[L30.6] has its text beside it for programs, which nobody sees", async () => {
    const pdf = await renderer.renderElements(
      [aCode('sec(re)t\\"ä'), aCode("7", { content: "order", left: 100 })],
      blank,
    );
    const texts = (await readPdf(pdf)).pages[0]?.texts ?? [];
    expect(texts.map(({ text }) => JSON.parse(text) as unknown)).toEqual([
      { issuer: "https://tickets.example", secret: 'sec(re)t\\"ä' },
      { issuer: "https://tickets.example", order: "7" },
    ]);
    expect(texts.every(({ size, x, y }) => size < 0.011 && x === 0 && y === 0)).toBe(true);
  });

  it("[L30.1] can be read, whatever it says", async () => {
    const values = fc.sample(fc.string({ minLength: 1, maxLength: 40 }), { numRuns: 12, seed: 7 });
    for (const value of values)
      expect(await readQrCode(await renderer.renderElements([aCode(value.toWellFormed())], blank))).toBe(
        value.toWellFormed(),
      );
  });
});

describe("an order of elements", () => {
  it("[L34.1] is that of the layout: later ones lie over earlier ones", async () => {
    const over = aContainer("MMM", { left: 25, bottom: 120, width: 50, fontSize: 60, color: [255, 0, 0], bold: true });
    const code = aCode("x", { hasQuietZone: false, left: 20, bottom: 100, size: 60 });
    const at = async (...elements: Parameters<typeof renderer.renderElements>[0]) => {
      const { pixels } = await drawPdf(await renderer.renderElements(elements, blank));
      let red = 0;
      for (let index = 0; index < pixels.length; index += 4)
        if ((pixels[index] ?? 0) > 200 && (pixels[index + 1] ?? 255) < 50) red += 1;
      return red;
    };
    const [above, below, alone] = [await at(code, over), await at(over, code), await at(over)];
    // But for the edges of letters.
    expect(Math.abs(above - alone)).toBeLessThan(alone * 0.02);
    expect(below).toBeLessThan(alone * 0.9);
  });
});

describe("a picture", () => {
  const page = async (file: ImageFile | undefined, more: Parameters<typeof anImage>[0] = {}) => {
    const pdf = await renderer.render([{ elements: [anImage(more)], background: { id: "blank", bytes: blank } }], {
      readImage: () => Promise.resolve(file),
    });
    return { pdf, drawn: await drawPdf(pdf) };
  };
  const square = (type: ImageFile["type"] = "image/png", side = 100): ImageFile => ({
    type,
    bytes: aPhoto({ width: side, height: side, type: type === "image/png" ? type : "image/jpeg" }),
  });

  it.each(["image/png", "image/jpeg"] as const)(
    "[L31.1] (%s) fits its box with its own proportions, in the middle",
    async (type) => {
      const { drawn } = await page(square(type));
      // 60 x 40: the square is 40 wide, and 10 stay free on each side.
      expect(drawn.colorAt(29, 120)).toEqual([255, 255, 255]);
      expect(drawn.colorAt(31, 120)).not.toEqual([255, 255, 255]);
      expect(drawn.colorAt(69, 120)).not.toEqual([255, 255, 255]);
      expect(drawn.colorAt(71, 120)).toEqual([255, 255, 255]);
      expect(drawn.colorAt(50, 139)).not.toEqual([255, 255, 255]);
      expect(drawn.colorAt(50, 141)).toEqual([255, 255, 255]);
    },
  );

  it("[L31.2] that is missing is a grey box", async () => {
    const { drawn } = await page(undefined);
    expect(drawn.colorAt(21, 101)).toEqual([204, 204, 204]);
    expect(drawn.colorAt(79, 139)).toEqual([204, 204, 204]);
    expect(drawn.colorAt(81, 139)).toEqual([255, 255, 255]);
    expect(renderer.warnings).toEqual([]);
  });

  it("[L31.2] that cannot be read is a grey box and a warning", async () => {
    const whole = aPhoto({ type: "image/png" });
    const spoiled = Buffer.from(aPhoto());
    spoiled.fill(0xff, 20, 200);
    for (const file of [
      { type: "image/png", bytes: whole.subarray(0, 900) },
      { type: "image/jpeg", bytes: whole },
      { type: "image/jpeg", bytes: spoiled },
    ] as const) {
      const { drawn } = await page(file);
      expect(drawn.colorAt(50, 120)).toEqual([204, 204, 204]);
      expect(renderer.warnings).toEqual([{ ticket: 0, element: 0, code: "image_unreadable" }]);
    }
  });

  it("[L31.3] has at most 300 dots per inch", async () => {
    const { pdf } = await page(
      { type: "image/jpeg", bytes: aPhoto({ width: 4000, height: 3000 }) },
      { width: 20, height: 15 },
    );
    const [, width] = /\/Subtype \/Image[\s\S]*?\/Width (\d+)/.exec(pdf.toString("latin1")) ?? [];
    expect(Number(width)).toBeGreaterThan(200);
    expect(Number(width)).toBeLessThan(240);
  });
});

describe("the mark of the platform", () => {
  it.each([
    ["dark", [255, 255, 255]],
    ["white", [0, 0, 0]],
  ] as const)("[L32.1] is as high as its size, %s", async (style, ground) => {
    const document = await PDFDocument.create();
    document
      .addPage([595.276, 841.89])
      .drawRectangle({ x: 0, y: 0, width: 600, height: 850, ...(style === "white" ? {} : { opacity: 0 }) });
    const mark = aMark({ style, left: 50, bottom: 100, size: 40 });
    const under = aCode("x", { left: 300 });
    for (const elements of [
      [mark],
      [mark, anArea("over it", { left: 50, bottom: 110, fontSize: 1, width: 60 }), under],
    ]) {
      const { pixels, width } = await drawPdf(await renderer.renderElements(elements, await document.save()));
      const rows = new Set<number>();
      for (let index = 0; index < pixels.length; index += 4)
        if (Math.abs((pixels[index] ?? 0) - ground[0]) > 100) rows.add(Math.floor(index / 4 / width));
      const [top, low] = [Math.min(...rows), Math.max(...rows)].map((row) => 297 - (row / 150) * 25.4);
      expect(top).toBeGreaterThan(135);
      expect(top).toBeLessThan(140.2);
      expect(low).toBeGreaterThan(99.8);
      expect(low).toBeLessThan(105);
    }
  });
});
