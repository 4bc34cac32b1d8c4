import { crc32, deflateSync } from "node:zlib";
import { aPhoto } from "@tessera/testkit/sample-photo";
import { afterAll, expect, it } from "vitest";
import { anImage } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";
import type { ImageFile } from "./printed-ticket.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A white picture of few bytes and many pixels (a decompression bomb). */
function aBomb(side: number): ImageFile {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1;
  const rows = deflateSync(Buffer.alloc(side * (Math.ceil(side / 8) + 1)), { level: 9 });
  const bytes = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("IDAT", rows),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return { type: "image/png", bytes };
}

const pictures = (count: number) =>
  Array.from({ length: count }, (_, question) => anImage({ image: { position: 1, question } }));

it("[L57.1] pictures of many pixels beyond what a ticket may have leave their boxes gray, and the others print", async () => {
  const bomb = aBomb(7000);
  expect(bomb.bytes.length).toBeLessThan(50_000);
  const asked: number[] = [];
  await renderer.render([{ elements: pictures(12), background: null }], {
    readImages: async (images) => {
      asked.push(...images.map(({ question }) => question));
      return images.map(() => bomb);
    },
  });
  expect(renderer.warnings.map(({ element, code }) => [element, code])).toEqual(
    Array.from({ length: 9 }, (_, index) => [index + 3, "too_many_pictures"]),
  );
  // One picture more is read than is printed.
  expect(asked).toEqual([0, 1, 2, 3]);
  expect(
    await renderer.tools.printer.print(
      { html: "<section></section>", pages: 1, width: 9, height: 9, fonts: [], images: [] },
      { party: "x" },
    ),
  ).toHaveProperty("pdf");
});

it("[L57.2] a picture that many elements show is read once, and many large ones end a chunk", async () => {
  const bytes = Buffer.concat([aPhoto({ width: 800, height: 600 }), Buffer.alloc(9 * 1024 * 1024)]);
  const file: ImageFile = { type: "image/jpeg", bytes };
  let asked = 0;
  const ticket = (position: number) => ({
    elements: Array.from({ length: 20 }, () => anImage({ image: { position, question: 1 } })),
    background: null,
  });
  await renderer.render([ticket(1), ticket(2), ticket(3)], {
    readImages: async (images) => {
      asked += images.length;
      return images.map(() => file);
    },
  });
  expect(asked).toBe(3);
  expect(renderer.warnings).toEqual([]);
});
