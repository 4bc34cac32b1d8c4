import { PDFDocument } from "@cantoo/pdf-lib";
import { aGif } from "@tessera/sent-files/testing/sample-files";
import { drawPdf, readCodes, readPdf, readQrCode } from "@tessera/testkit/read-pdf";
import { aPhoto } from "@tessera/testkit/sample-photo";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPlainJpeg } from "../domain/drawing/plain-jpeg.ts";
import { encodeQr } from "../domain/drawing/qr-code.ts";
import { aCode, aContainer, aMark, anArea, anImage } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import type { ImageFile } from "./printed-ticket.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

let blank: Uint8Array;
beforeAll(async () => {
  const document = await PDFDocument.create();
  document.addPage([595.276, 841.89]);
  blank = await document.save();
});

describe("a code", () => {
  it.each([
    "z3fsn8jyufm5kpk768q69gkbyr5f4h6w",
    ...["A1", "1234567890", "0".repeat(32), "A".repeat(32), "U".repeat(60), "x".repeat(129)],
    `{"ä":"${"ö".repeat(300)}"}`,
  ])("[L30.1] can be read: %s", async (value) => {
    expect(await readQrCode(await renderer.renderElements([aCode(value)], blank))).toBe(value);
  });

  it("[L30.2] has more redundancy the shorter it is", () => {
    // The smallest sides for this many bytes at the levels H, M and L.
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
      // The lower left finder pattern begins there, and nothing is painted beside it.
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

  it("[L30.6] has its text beside it for programs, which is not seen", async () => {
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

describe("a code of another kind", () => {
  const secret = "z3fsn8jyufm5kpk768q69gkbyr5f4h6w";

  it.each([
    ["aztec", "Aztec", `${secret} ä`, 60],
    ["datamatrix", "DataMatrix", `${secret} ä`, 60],
    ["pdf417", "PDF417", `${secret} ä`, 20],
    ["code128", "Code128", "A1b2-0042", 17.1],
  ] as const)(
    "[L30.7] (%s) is read as what it says, and stands at the lower left",
    async (symbology, format, value, height) => {
      const under = anArea("x", { left: 15, bottom: 95, fontSize: 1, width: 2 });
      for (const elements of [[aCode(value, { symbology })], [aCode(value, { symbology }), under]]) {
        const drawn = await drawPdf(await renderer.renderElements(elements, blank));
        expect(await readCodes(drawn)).toEqual([{ format, text: value }]);
        const dark = Array.from({ length: 120 }, (_, row) => 99 + row / 2).filter((y) =>
          Array.from({ length: 300 }, (_, column) => drawn.colorAt(20 + column / 5, y)[0]).includes(0),
        );
        expect(dark[0]).toBeGreaterThanOrEqual(100);
        expect(dark.at(-1)).toBeLessThanOrEqual(100 + height);
        expect(dark.at(-1)).toBeGreaterThan(100 + height * 0.85);
        // Finder patterns and bars leave no row without a dark module.
        expect(dark).toHaveLength(((dark.at(-1) ?? 0) - (dark[0] ?? 0)) * 2 + 1);
      }
    },
  );

  it("[L30.8] that cannot say its content is not drawn, which is a warning", async () => {
    const elements = [
      aCode("ä", { symbology: "code128" }),
      aCode("x".repeat(151), { symbology: "aztec" }),
      aCode("x".repeat(150), { symbology: "aztec" }),
    ];
    await renderer.renderElements(elements, blank);
    expect(renderer.warnings.map(({ element, code }) => [element, code])).toEqual([
      [0, "code_too_long"],
      [1, "code_too_long"],
    ]);
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
    // Except for antialiased edges.
    expect(Math.abs(above - alone)).toBeLessThan(alone * 0.02);
    expect(below).toBeLessThan(alone * 0.9);
  });
});

describe("a picture", () => {
  const page = async (file: ImageFile | undefined, more: Parameters<typeof anImage>[0] = {}) => {
    const pdf = await renderer.render([{ elements: [anImage(more)], background: { id: "blank", bytes: blank } }], {
      readImages: async (images) => images.map(() => file),
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
      // 60 x 40: the square is 40 wide, with 10 free on each side.
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
    const gif = aGif();
    gif.writeUInt8(11, gif.length - 6);
    for (const file of [
      { type: "image/png", bytes: whole.subarray(0, 900) },
      { type: "image/jpeg", bytes: whole },
      { type: "image/jpeg", bytes: spoiled },
      { type: "image/gif", bytes: gif },
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

  it("[L31.3] of few bytes may have twice as many", async () => {
    const widthOf = async (pixels: number) => {
      const file = { type: "image/jpeg", bytes: aPhoto({ width: pixels, height: pixels }) } as const;
      expect(file.bytes.length).toBeLessThan(32 * 1024);
      const { pdf } = await page(file, { width: 25.4, height: 25.4 });
      return Number(/\/Subtype \/Image[\s\S]*?\/Width (\d+)/.exec(pdf.toString("latin1"))?.[1]);
    };
    expect([await widthOf(590), await widthOf(610)]).toEqual([590, 300]);
  });

  it("[L31.4] that needs no change is in the file as it is, with its profile, once; others are not", async () => {
    const plain = aPhoto();
    const turned = withOrientation(plain, 6);
    const elements = [
      anImage(),
      anImage({ bottom: 150 }),
      anArea("x", { left: 100, bottom: 20 }),
      anImage({ bottom: 200, image: { position: 2, question: 1 } }),
    ];
    const pdf = await renderer.render(
      [1, 2].map(() => ({ elements, background: { id: "blank", bytes: blank } })),
      {
        readImages: async (images) =>
          images.map(({ position }) => ({ type: "image/jpeg", bytes: position === 1 ? plain : turned })),
      },
    );
    expect(pdf.indexOf(plain)).toBeGreaterThan(0);
    expect(pdf.indexOf(plain)).toBe(pdf.lastIndexOf(plain));
    expect(pdf.toString("latin1").match(/\/ICCBased/g)?.length).toBeGreaterThan(0);
    const { colorAt } = await drawPdf(pdf, { page: 2 });
    // 53.3 x 40, centered in 60 x 40; the rotated picture is 30 x 40, with the sky on its right.
    expect([22.5, 24, 76, 77.5].map((x) => colorAt(x, 120).join() === "255,255,255")).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect([34, 36, 64, 66].map((x) => colorAt(x, 220).join() === "255,255,255")).toEqual([true, false, false, true]);
    expect(colorAt(63, 220)).not.toEqual(colorAt(37, 220));
  });

  it.each(["image/png", "image/jpeg"] as const)(
    "[L31.5] (%s) that many tickets show is in the file once for each of its sizes",
    async (type) => {
      const bytes = aPhoto({ width: 400, height: 300, type });
      const elements = [anImage({ width: 20, height: 15 }), anImage({ bottom: 150, width: 16, height: 12 })];
      const tickets = Array.from({ length: 30 }, () => ({
        elements,
        background: null,
      }));
      const pdf = await renderer.render(tickets, {
        readImages: async (images) => images.map(() => ({ type, bytes })),
      });
      expect(pdf.toString("latin1").match(/\/Subtype \/Image/g)).toHaveLength(2);
      const [first, last] = [await drawPdf(pdf), await drawPdf(pdf, { page: tickets.length })];
      expect(Buffer.from(last.pixels).equals(Buffer.from(first.pixels))).toBe(true);
    },
  );

  it.each([[aPhoto()], [withOrientation(aPhoto(), 1)]])(
    "[L34.1] lies between what is before and after it",
    async (bytes) => {
      const at = { left: 20, bottom: 100, width: 60, fontSize: 120, bold: true } as const;
      const elements = [
        anArea("MM", { ...at, color: [255, 0, 0] }),
        anImage(),
        aContainer("MM", { ...at, height: 40, fontSize: 40, color: [0, 0, 255] }),
      ];
      const pdf = await renderer.render([{ elements, background: { id: "blank", bytes: blank } }], {
        readImages: async (images) => images.map(() => ({ type: "image/jpeg", bytes })),
      });
      const { colorAt } = await drawPdf(pdf);
      const colors = Array.from({ length: 2000 }, (_, index) =>
        colorAt(25 + (index % 50), 101 + Math.floor(index / 50)).join(),
      );
      expect(colors).toContain("0,0,255");
      expect(colors).not.toContain("255,0,0");
    },
  );

  it("[L31.4] is looked at to its end before, whatever its bytes are", () => {
    const photo = aPhoto({ width: 40, height: 30 });
    expect(readPlainJpeg(photo)).toMatchObject({ width: 40, height: 30, channels: 3 });
    const change = fc.tuple(fc.nat({ max: photo.length - 1 }), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.nat({ max: photo.length }),
        (changes, length) => {
          const bytes = Buffer.from(photo.subarray(0, length));
          for (const [place, value] of changes) if (place < length) bytes[place] = value;
          const read = readPlainJpeg(bytes);
          if (length < photo.length && !bytes.subarray(-2).equals(Buffer.of(0xff, 0xd9))) expect(read).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** A JPEG with an EXIF orientation. */
function withOrientation(jpeg: Buffer, orientation: number): Buffer {
  const tiff = Buffer.from("4d4d002a0000000800010112000300000001000000000000", "hex");
  tiff.writeUInt16BE(orientation, 18);
  const content = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, content.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 20), head, content, jpeg.subarray(20)]);
}

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
