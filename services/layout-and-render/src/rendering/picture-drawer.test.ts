import { setTimeout as pause } from "node:timers/promises";
import { deflateSync, inflateSync } from "node:zlib";
import { PDFDocument, PDFName, PDFRawStream, rgb } from "@cantoo/pdf-lib";
import { afterAll, expect, it } from "vitest";
import { encodePng } from "./encode-png.ts";
import { openPictureDrawer } from "./picture-drawer.ts";

const drawer = openPictureDrawer();
afterAll(() => drawer.close());

/** An inch on each side, with a red left half. */
async function halfRed(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([72, 72]).drawRectangle({ x: 0, y: 0, width: 36, height: 72, color: rgb(1, 0, 0) });
  return document.save();
}

/** A page of half a million rectangles, which takes seconds to draw. */
async function slow(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const content = document.context.stream("0 0 70 70 re f\n".repeat(500_000));
  document.addPage([72, 72]).node.set(PDFName.of("Contents"), document.context.register(content));
  return document.save({ useObjectStreams: false });
}

/** The size, and the colours of the first row. */
function readPng(png: Uint8Array) {
  const bytes = Buffer.from(png);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const begin = bytes.indexOf("IDAT") + 4;
  const pixels = inflateSync(bytes.subarray(begin, begin + bytes.readUInt32BE(begin - 8)));
  expect(pixels).toHaveLength(height * (1 + 3 * width));
  const colors = Array.from({ length: width }, (_, at) => pixels.subarray(1 + 3 * at, 4 + 3 * at).toString("hex"));
  return { width, height, colors };
}

const undrawable = {
  ...{ kind: "unmet", code: "ticket_unprintable" },
  message: expect.stringContaining("another PDF as the background"),
};

const draw = async (more: object = {}, from = drawer, party = "one") =>
  from.draw({ pdf: await halfRed(), page: 1, dpi: 40, layout: "any", ...more }, { party });

it("[L46.1] a page is drawn with its colours, as large as the dots say", async () => {
  const picture = await draw();
  if (picture.kind !== "picture") throw new Error(picture.kind);
  expect(picture.pixels).toBe(1600);
  const { width, height, colors } = readPng(picture.png);
  expect([width, height, new Set(colors.slice(0, 19)), new Set(colors.slice(21))]).toEqual([
    40,
    40,
    new Set(["ff0000"]),
    new Set(["ffffff"]),
  ]);
});

it("[L46.1] pictures of any size are written right", () => {
  for (const [width, height] of [
    [1, 1],
    [1, 7],
    [2, 3],
    [300, 1],
  ] as const) {
    const data = Uint8Array.from({ length: width * height * 4 }, (_, at) => (at % 4 === 3 ? 255 : (at % 4) + 1));
    expect(readPng(encodePng({ width, height, data }, { dpi: 72 })).colors).toEqual(
      Array.from({ length: width }, () => "010203"),
    );
  }
});

it("[L46.2] a page that there is not, and too many pixels, are no picture", async () => {
  expect(await draw({ page: 2 })).toEqual({ kind: "no such page", pages: 1 });
  const small = openPictureDrawer({ mostPixels: 1599, maxMs: 8000, idleMs: 1000, threads: 1 });
  expect(await draw({}, small)).toEqual({ kind: "too large", pixels: 1600 });
  await small.close();
});

it("[L46.2] pictures that are wanted at once are all drawn", async () => {
  const parties = ["one", "one", "one", "two", "two"];
  const pictures = await Promise.all(parties.map((party) => draw({}, drawer, party)));
  expect(pictures.map(({ kind }) => kind)).toEqual(parties.map(() => "picture"));
});

/** A page whose form unpacks from 300 kilobytes to 300 megabytes of blanks. */
async function unpacking(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context } = document;
  const { node } = document.addPage([72, 72]);
  const form = context.obj({ Type: "XObject", Subtype: "Form", BBox: [0, 0, 72, 72], Filter: "FlateDecode" });
  const packed = deflateSync(Buffer.alloc(300 * 1024 * 1024, " "), { level: 1 });
  const forms = { Form: context.register(PDFRawStream.of(form, packed)) };
  node.set(PDFName.of("Resources"), context.obj({ XObject: forms }));
  node.set(PDFName.of("Contents"), context.register(context.stream("/Form Do")));
  return document.save({ useObjectStreams: false });
}

it("[L46.5] however long the pictures of one organizer take, one of another is drawn beside them", async () => {
  const beside = openPictureDrawer({ mostPixels: 1e6, maxMs: 60_000, idleMs: 1000, threads: 2 });
  const pdf = await slow();
  let isOver = false;
  const long = Promise.allSettled([draw({ pdf }, beside), draw({ pdf }, beside), draw({ pdf }, beside)]).then(() => {
    isOver = true;
  });
  expect((await draw({}, beside, "two")).kind).toBe("picture");
  expect(isOver).toBe(false);
  await beside.close();
  await long;
});

it("[L46.3, L46.5] a page that takes too long fails, and so does one that cannot be read; the next one is drawn", async () => {
  const hasty = openPictureDrawer({ mostPixels: 1e6, maxMs: 400, idleMs: 1000, threads: 1 });
  // Its thread has started.
  const isDrawn = () => draw({}, hasty).then(Boolean, () => false);
  await expect.poll(isDrawn).toBe(true);
  const late = { code: "print_too_slow", cause: { trouble: "too slow" } };
  await expect(draw({ pdf: await slow(), layout: "slow" }, hasty)).rejects.toMatchObject(late);
  const again: unknown = await draw({ layout: "slow" }, hasty).catch((error: unknown) => error);
  expect(again).toMatchObject({ code: "print_too_slow" });
  // It did not reach its thread.
  expect((again as Error).cause).toBeUndefined();
  await hasty.close();
  await expect(draw({ pdf: Buffer.from("no PDF") })).rejects.toMatchObject(undrawable);
  expect((await draw()).kind).toBe("picture");
});

it("[L46.4] a page that unpacks to more memory than a picture may take is refused; the next one is drawn, also after a client that has left", async () => {
  const pdf = await unpacking();
  await expect(draw({ pdf })).rejects.toMatchObject(undrawable);
  expect((await draw()).kind).toBe("picture");
  const leaving = new AbortController();
  const left = drawer.draw({ pdf, page: 1, dpi: 40, layout: "any" }, { party: "one", signal: leaving.signal });
  const next = draw({}, drawer, "two");
  await pause(20);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toMatchObject({ trouble: "left" });
  expect((await next).kind).toBe("picture");
});

it("[L46.3] a picture whose client has left ends", async () => {
  for (const turnsLater of [0, 5]) {
    const leaving = new AbortController();
    const picture = drawer.draw(
      { pdf: await halfRed(), page: 1, dpi: 40, layout: "any" },
      { party: "one", signal: leaving.signal },
    );
    const ended = picture.then(
      () => "drawn",
      () => "ended",
    );
    for (let turn = 0; turn < turnsLater; turn += 1) await Promise.resolve();
    leaving.abort(new Error("gone"));
    expect(await ended).toBe("ended");
  }
  expect((await draw()).kind).toBe("picture");
});
