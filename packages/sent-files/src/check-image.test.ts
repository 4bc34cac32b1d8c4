import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it } from "vitest";
import { checkImage } from "./check-image.ts";
import { aGif, aJpeg, aPng } from "./testing/sample-files.ts";

function objectionTo(...image: Parameters<typeof checkImage>): string | undefined {
  const examined = checkImage(...image);
  return examined.ok ? undefined : examined.objection;
}

const samples = { "image/png": aPng, "image/gif": aGif, "image/jpeg": aJpeg } as const;
type ImageType = keyof typeof samples;
const types = Object.keys(samples) as ImageType[];

describe.each(types)("a file that is called %s", (type) => {
  const sample = samples[type];

  it("is accepted when it is one", () => {
    expect(objectionTo(type, sample())).toBeUndefined();
    expect(objectionTo(type, sample({ width: 10_000, height: 5000 }))).toBeUndefined();
  });

  it("[S4.46] is taken without what follows its end", () => {
    const whole = sample();
    expect(checkImage(type, whole)).toEqual({ ok: true, rewritten: undefined });
    for (const behind of ["x", "<script>alert(1)</script>", "%PDF-1.7", whole.toString("latin1")])
      expect(checkImage(type, Buffer.concat([whole, Buffer.from(behind, "latin1")]))).toEqual({
        ok: true,
        rewritten: Uint8Array.from(whole),
      });
  });

  it("is refused when it is of another type, or not an image", () => {
    const others = types.filter((other) => other !== type).map((other) => samples[other]());
    for (const bytes of [...others, Buffer.from("%PDF-1.7 and so on"), Buffer.alloc(1000), Buffer.of(1)]) {
      expect(objectionTo(type, bytes)).toMatch(
        /^The (?:file is not a valid (?:PNG|GIF|JPEG) image|image is cut off)\./,
      );
    }
  });

  it("is refused wherever it is cut off", () => {
    const whole = sample();
    for (let length = 0; length < whole.length - 1; length += 1) {
      expect(objectionTo(type, whole.subarray(0, length)), `${length} bytes`).toEqual(expect.any(String));
    }
  });

  it.each([
    [10_001, 1],
    [1, 10_001],
    [10_000, 5001],
    [65_535, 65_535],
  ])("[S4.8] is refused with %i x %i pixels", (width, height) => {
    expect(objectionTo(type, sample({ width, height }))).toMatch(`The image has ${width} x ${height} pixels.`);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])("is refused with %i x %i pixels, as not an image", (width, height) => {
    expect(objectionTo(type, sample({ width, height }))).toMatch("not a valid");
  });
});

describe("the end of a JPEG", () => {
  const scan = (data: string) => Buffer.concat([Buffer.from("ffda0008010100003f00", "hex"), Buffer.from(data, "hex")]);
  const head = aJpeg().subarray(0, -12);

  it.each([
    [
      "behind several scans",
      [scan("3fff003f"), Buffer.from("ffc40004ffd9", "hex"), scan("3fffd03f"), Buffer.from("ffd9", "hex")],
    ],
    ["behind filling bytes and marks without meaning", [scan("3fffffff3fff02ffffd9")]],
  ])("is found %s", (_name, parts) => {
    const image = Buffer.concat([head, ...parts]);
    expect(checkImage("image/jpeg", image)).toEqual({ ok: true, rewritten: undefined });
    expect(checkImage("image/jpeg", Buffer.concat([image, Buffer.from("ffd9", "hex")]))).toEqual({
      ok: true,
      rewritten: Uint8Array.from(image),
    });
  });

  it("is no mark within a comment", () => {
    expect(objectionTo("image/jpeg", Buffer.concat([head, scan("3ffffe0004ffd9")]))).toMatch("cut off");
  });
});

describe("an image that lies", () => {
  it("is a PNG whose size was changed without its sum", () => {
    const bytes = aPng();
    bytes.writeUInt32BE(3, 16);
    expect(objectionTo("image/png", bytes)).toMatch("not a valid PNG");
    expect(objectionTo("image/png", aPng({ width: 4_294_967_295 }))).toMatch("4294967295 x 1 pixels");
  });

  it("is a GIF with a frame larger than itself", () => {
    expect(objectionTo("image/gif", aGif({ frameWidth: 60_000 }))).toMatch("60000 x 1 pixels");
  });

  it.each([0, 1, 2, 8, 9, 11, 255])("is a GIF whose pixels have more bits than colours have: %d", (bits) => {
    const bytes = aGif();
    bytes.writeUInt8(bits, bytes.length - 6);
    expect(bytes.readUInt8(bytes.length - 5)).toBe(2);
    expect(objectionTo("image/gif", bytes)).toEqual(bits > 8 ? expect.stringMatching("not a valid GIF") : undefined);
  });

  it("is no GIF that merely lacks its trailer", () => {
    expect(objectionTo("image/gif", aGif().subarray(0, -1))).toBeUndefined();
  });

  it("is a JPEG with two sizes", () => {
    const before = Buffer.from("ffc0000b080001000101011100", "hex");
    expect(objectionTo("image/jpeg", aJpeg({ before }))).toMatch("not a valid JPEG");
  });

  it("costs no more than its bytes", async () => {
    const segments = Buffer.alloc(8 * 1024 * 1024, Buffer.from("fffe0002", "hex"));
    const blocks = Buffer.concat([aGif().subarray(0, 22), Buffer.alloc(8 * 1024 * 1024, 1)]);
    const check = async () => {
      expect(objectionTo("image/jpeg", aJpeg({ before: segments }))).toBeUndefined();
      expect(objectionTo("image/gif", blocks)).toMatch("cut off");
    };
    expect(await longestTurn(check, { enoughMs: 3000 })).toBeLessThan(3000);
  });
});
