import { deflateRawSync, deflateSync } from "node:zlib";
import { checkPdf } from "@tessera/sent-files/check-pdf";
import { aPdf } from "@tessera/sent-files/testing/sample-files";
import { drawPdf, readPdf } from "@tessera/testkit/read-pdf";
import { seededNumbers } from "@tessera/testkit/seeded-numbers";
import { afterAll, describe, expect, it } from "vitest";
import { samplePdfs } from "../testing/odd-pdfs.ts";
import { openTestRenderer } from "../testing/renderer.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

/** Prints a ticket without elements on a file. */
async function print(bytes: Uint8Array): Promise<Buffer> {
  const examined = await checkPdf(bytes);
  if (!examined.ok) throw new Error(examined.objection);
  return renderer.renderElements([], examined.rewritten);
}

/** Draws the page as viewers show it, and as it is printed. */
async function drawBoth(bytes: Uint8Array) {
  const [shown, printed] = [await drawPdf(bytes, { dpi: 72 }), await drawPdf(await print(bytes), { dpi: 72 })];
  expect([printed.width, printed.height]).toEqual([shown.width, shown.height]);
  return { shown: Buffer.from(shown.pixels), printed: Buffer.from(printed.pixels) };
}

function countOf([red, green, blue]: readonly number[], pixels: Buffer): number {
  let count = 0;
  for (let at = 0; at < pixels.length; at += 4)
    if (pixels[at] === red && pixels[at + 1] === green && pixels[at + 2] === blue) count += 1;
  return count;
}

const red = Buffer.from("1 0 0 rg 0 0 300 300 re f");
const packed = deflateSync(red);

/** A page with these streams as its content. */
function withContents(
  named: string,
  streams: Readonly<Record<number, readonly [entries: string, content: Buffer]>>,
): Uint8Array {
  const objects = Object.entries(streams).map(
    ([number, [entries, content]]) =>
      `${number} 0 obj << ${entries} /Length ${content.length} >> stream\n${content.toString("latin1")}\nendstream endobj`,
  );
  return new Uint8Array(aPdf({ page: `/Contents ${named}`, objects: objects.join("\n") }));
}

const nothing = Buffer.alloc(0);

describe("[L33.9] a background prints as readers show it", () => {
  it.each(Object.entries(samplePdfs))("that was written by %s", async (_program, bytes) => {
    const { shown, printed } = await drawBoth(bytes);
    // Antialiasing differs slightly at the edges of a form.
    const difference = shown.reduce((sum, value, index) => sum + Math.abs(value - (printed[index] ?? 0)), 0);
    expect(difference / shown.length).toBeLessThan(0.2);
    expect(new Set(shown).size).toBeGreaterThan(1);
  });

  it.each([
    ["is packed and empty", withContents("40 0 R", { 40: ["/Filter /FlateDecode", nothing] }), false],
    [
      "is of an empty part and another",
      withContents("[40 0 R 41 0 R]", { 40: ["/Filter /FlateDecode", nothing], 41: ["", red] }),
      true,
    ],
    ["names its filter in short", withContents("40 0 R", { 40: ["/Filter /Fl", packed] }), true],
    [
      "names its filters in short",
      withContents("40 0 R", { 40: ["/Filter [/AHx /Fl]", Buffer.from(`${packed.toString("hex")}>`)] }),
      true,
    ],
    [
      "has a part that is not there",
      withContents("[39 0 R 40 0 R null]", { 40: ["/Filter /FlateDecode", packed] }),
      true,
    ],
    ["is not there", withContents("40 0 R", {}), false],
    ["is null", withContents("null", {}), false],
  ])("where the content of a page %s", async (_what, bytes, isRed) => {
    const { shown, printed } = await drawBoth(bytes);
    expect(printed.equals(shown)).toBe(true);
    expect([...printed.subarray(-595 * 4, -595 * 4 + 3)]).toEqual(isRed ? [255, 0, 0] : [255, 255, 255]);
  });

  it.each([
    ["upright", ""],
    ["cropped and turned", "/Rotate 90 /CropBox [20 30 400 500]"],
  ])("[L33.12] with its stamps, text boxes, drawings and filled fields: a page that is %s", async (_what, entries) => {
    const form = (number: number, more: string, content: string) =>
      `${number} 0 obj << ${more} /Length ${content.length} >> stream\n${content}\nendstream endobj`;
    const pageWith = (more: string) => `${entries} /Contents 40 0 R /Annots [
      << /Subtype /Stamp /F 4 /Rect [50 50 150 100] /AP << /N 41 0 R >> /A << /S /URI /URI (https://example.com) >> >>
      << /Subtype /FreeText /F 4 /Rect [200 150 100 350] /AP << /N 42 0 R >> >>
      << /Subtype /Widget /FT /Btn /F 4 /Rect [30 200 60 230] /AS /Yes /AP << /N << /Yes 43 0 R /Off 44 0 R >> >> >>
      << /Subtype /Ink /F 4 /Rect [250 50 350 150] /AP << /N 41 0 R >> /OC 46 0 R >>
      45 0 R null ${more} ]`;
    const unseen = `
      << /Subtype /Stamp /F 6 /Rect [0 0 300 300] /AP << /N 44 0 R >> >>
      << /Subtype /Stamp /F 36 /Rect [0 0 300 300] /AP << /N 44 0 R >> >>
      << /Subtype /Stamp /F 0 /Rect [0 0 300 300] /AP << /N 44 0 R >> >>
      << /Subtype /Popup /F 4 /Rect [0 0 300 300] /AP << /N 44 0 R >> >>`;
    const objects = [
      // Leaves its state turned and scaled.
      form(40, "", "q 0 1 -1 0 300 0 cm 0 1 0 rg 0 0 60 40 re f q 3 0 0 3 0 0 cm"),
      form(41, "/BBox [0 0 10 10] /Matrix [0.707 0.707 -0.707 0.707 5 5]", "1 0 0 rg 0 0 10 10 re f 0 g 0 0 5 2 re f"),
      form(
        42,
        "/Subtype /Form /BBox [10 10 60 110] /Resources << >>",
        "0 0 1 rg 10 10 200 200 re f 1 1 0 rg 10 10 20 20 re f",
      ),
      form(43, "/BBox [0 0 30 30]", "0 1 1 rg 0 0 30 30 re f"),
      form(44, "/BBox [0 0 30 30]", "0 g 0 0 30 30 re f"),
      "45 0 obj << /Subtype /Link /F 4 /Rect [0 0 99 99] /Border [0 0 0] /A << /S /URI /URI (https://example.com) >> >> endobj",
      "46 0 obj << /Type /OCG /Name (Seen) >> endobj",
    ];
    const fileWith = (more = "") => new Uint8Array(aPdf({ page: pageWith(more), objects: objects.join("\n") }));
    const { shown, printed } = await drawBoth(fileWith());
    const difference = shown.reduce((sum, value, index) => sum + Math.abs(value - (printed[index] ?? 0)), 0);
    expect(difference / shown.length).toBeLessThan(0.2);
    for (const colour of [
      [255, 0, 0],
      [0, 0, 255],
      [255, 255, 0],
      [0, 255, 255],
      [0, 255, 0],
    ])
      expect([colour, countOf(colour, printed) > 200]).toEqual([colour, true]);
    const withMore = await print(fileWith(unseen));
    expect(printed.equals(Buffer.from((await drawPdf(withMore, { dpi: 72 })).pixels))).toBe(true);
    // Nothing that is done by a click is left.
    expect(withMore.toString("latin1")).not.toMatch(/\/Annots|\/URI|\/AcroForm/);
  });

  it("whatever the length of what its objects say", async () => {
    for (let length = 1; length < 600; length += 7) {
      const name = "N".repeat(length);
      const resources = `/Resources << /Font << /F 41 0 R >> /ColorSpace << /${name} /DeviceRGB >> /Properties << /P (${"💽(".repeat(length)}${")".repeat(length)}) >> >>`;
      const objects = `40 0 obj << /Length 30 >> stream\n/${name.slice(0, 1)} cs 1 0 0 rg 0 0 9 9 re f\nendstream endobj`;
      const examined = await checkPdf(new Uint8Array(aPdf({ page: `/Contents 40 0 R ${resources}`, objects })));
      expect(examined.ok).toBe(true);
      if (examined.ok && length % 10 === 1) await readPdf(await renderer.renderElements([], examined.rewritten));
    }
  });
});

describe("[L33.10] a background that readers show otherwise, or not at all, is refused when it is sent", () => {
  it.each([
    ["cut", withContents("40 0 R", { 40: ["/Filter /FlateDecode", packed.subarray(0, -12)] })],
    ["packed without a head", withContents("40 0 R", { 40: ["/Filter /FlateDecode", deflateRawSync(red)] })],
    ["packed in an unknown way", withContents("40 0 R", { 40: ["/Filter /BestDecode", packed] })],
    [
      "packed like a picture",
      withContents("40 0 R", { 40: ["/Filter /FlateDecode /DecodeParms << /Predictor 12 >>", packed] }),
    ],
    ["no stream", withContents("<< >>", {})],
    ["a list of what is no stream", withContents("[<< >>]", {})],
  ])("for its content is %s", async (_what, bytes) => {
    expect(await checkPdf(bytes)).toEqual({ ok: false, objection: expect.stringMatching("The PDF is broken.") });
  });
});

describe("[L33.11] a damaged file prints, or is refused with a sentence", () => {
  /** Corrupts a file in a few places. */
  function damage(bytes: Uint8Array, random: () => number): Uint8Array {
    let damaged = Buffer.from(bytes);
    const at = () => Math.floor(random() * damaged.length);
    for (let left = 1 + Math.floor(random() * 3); left > 0; left -= 1) {
      const [from, length] = [at(), 1 + Math.floor(random() ** 3 * 60)];
      const kinds = [
        () => Buffer.concat([damaged.subarray(0, from), damaged.subarray(from + length)]),
        () => Buffer.concat([damaged.subarray(0, from), damaged.subarray(at(), from + length), damaged.subarray(from)]),
        () =>
          Buffer.concat([damaged.subarray(0, from), Buffer.of(Math.floor(random() * 256)), damaged.subarray(from + 1)]),
        () => damaged.subarray(0, Math.max(1, damaged.length - length)),
        // Corrupts object numbers, lengths and offsets.
        () => {
          const text = damaged.toString("latin1");
          const digits = [...text.matchAll(/\d+/g)];
          const { 0: digit = "", index = 0 } = digits[Math.floor(random() * digits.length)] ?? {};
          const other = digits[Math.floor(random() * digits.length)]?.[0] ?? "";
          return Buffer.from(text.slice(0, index) + other + text.slice(index + digit.length), "latin1");
        },
      ];
      damaged = kinds[Math.floor(random() * kinds.length)]?.() ?? damaged;
    }
    return new Uint8Array(damaged);
  }

  it.each(Object.entries(samplePdfs))("that was written by %s", async (_program, bytes) => {
    const random = seededNumbers(bytes.length);
    let printed = 0;
    let refused = 0;
    for (let count = 0; count < 170; count += 1) {
      const examined = await checkPdf(damage(bytes, random));
      if (!examined.ok) {
        refused += 1;
        expect(examined.objection).toMatch(/^The (?:PDF|file) /);
      } else {
        printed += 1;
        if (printed % 4 !== 0) continue;
        expect((await readPdf(await renderer.renderElements([], examined.rewritten))).pages.length).toBeGreaterThan(0);
      }
    }
    expect(Math.min(printed, refused)).toBeGreaterThan(0);
  });

  it("wherever it is cut", async () => {
    const outcomes = new Set<boolean>();
    for (const bytes of [samplePdfs["Cairo"], samplePdfs["an editor that appends what it changes"]])
      for (let length = 0; bytes !== undefined && length < bytes.length; length += 1) {
        const examined = await checkPdf(bytes.slice(0, length));
        outcomes.add(examined.ok);
        if (!examined.ok) expect(examined.objection).toMatch(/^The (?:PDF|file) /);
      }
    expect(outcomes.size).toBe(2);
  });
});
