import { deflateSync, inflateSync } from "node:zlib";
import { findActive } from "@tessera/testkit/read-pdf";
import { expect, it } from "vitest";
import { checkPdf } from "./check-pdf.ts";

const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>";
const pages = "<</Type/Pages/Count 1/Kids[3 0 R]>>";
const plain = "<</Type/Catalog/Pages 2 0 R>>";
const script = "<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>";

interface Hiding {
  /** Objects in order, some twice. */
  readonly objects: readonly (readonly [number: number, text: string])[];
  /** Which definition of an object its table names, if not the first; or in which packed object it is. */
  readonly packedIn?: Readonly<Record<number, number>>;
  /** Where an object is within another's text. */
  readonly within?: readonly [number: number, text: string];
  readonly root: number;
}

/** A file whose table names other objects than those that stand last in it. */
function hide({ objects, packedIn = {}, within, root }: Hiding): Uint8Array {
  let text = "%PDF-1.7\n";
  const offsets = new Map<number, number>();
  for (const [number, object] of objects) {
    if (!offsets.has(number)) offsets.set(number, text.length);
    text += `${number} 0 obj ${object} endobj\n`;
  }
  if (within !== undefined) offsets.set(within[0], text.indexOf(within[1]));
  const numbers = [...new Set([...offsets.keys(), ...Object.keys(packedIn).map(Number)])].sort((one, two) => one - two);
  const rows = numbers.map((number) => {
    const row = Buffer.alloc(7);
    const container = packedIn[number];
    row.writeUInt8(container === undefined ? 1 : 2, 0);
    row.writeUInt32BE(container ?? offsets.get(number) ?? 0, 1);
    return row;
  });
  const start = text.length;
  const index = numbers.map((number) => `${number} 1`).join(" ");
  text += `90 0 obj <</Type/XRef/Size 91/W[1 4 2]/Index[${index}]/Root ${root} 0 R/Length ${7 * rows.length}>> stream\n${Buffer.concat(rows).toString("latin1")}\nendstream endobj\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text, "latin1"));
}

function stream(entries: string, content: Buffer): string {
  return `<<${entries}/Length ${content.length}>> stream\n${content.toString("latin1")}\nendstream`;
}

/** Packed objects that do not say so. */
const hidden = stream("/N 1/First 5/Filter/FlateDecode", deflateSync(Buffer.from(`10 0 ${script}`)));
const base = [
  [2, pages],
  [3, page],
  [10, plain],
] as const;

const files: Readonly<Record<string, Uint8Array>> = {
  "packed objects without a type, which another object replaces": hide({
    objects: [[20, hidden], ...base, [20, stream("", Buffer.from("x"))]],
    packedIn: { 10: 20 },
    root: 10,
  }),
  "packed objects in the bytes of a stream": hide({
    objects: [...base, [30, stream("", Buffer.from(`20 0 obj ${hidden} endobj`, "latin1"))]],
    within: [20, "20 0 obj"],
    packedIn: { 10: 20 },
    root: 10,
  }),
  "an XFA form that another object replaces": hide({
    objects: [
      [1, "<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>"],
      [7, "<</Fields[]/XFA 8 0 R>>"],
      [8, stream("", Buffer.from("<xdp:xdp/>"))],
      ...base,
      [7, "<</Fields[]>>"],
    ],
    root: 1,
  }),
  "an address that is opened at once, in a catalog that another replaces": hide({
    objects: [[1, "<</Type/Catalog/Pages 2 0 R/OpenAction<</S/URI/URI(http://evil.example/)>>>>"], ...base, [1, plain]],
    root: 1,
  }),
};

/** All of a file that any reader could find in it. */
function everythingIn(bytes: Uint8Array): string {
  const file = Buffer.from(bytes);
  let text = file.toString("latin1");
  for (let at = file.indexOf("stream"); at >= 0; at = file.indexOf("stream", at + 1))
    for (const skipped of [6, 7, 8]) {
      try {
        text += inflateSync(file.subarray(at + skipped)).toString("latin1");
      } catch {
        // No packed bytes begin here.
      }
    }
  return text;
}

const active = /OpenAction|JavaScript|XFA|URI/;

it.each(Object.entries(files))(
  "[S4.47] what is taken of a PDF has nothing of what it hides: %s",
  async (_what, bytes) => {
    expect(everythingIn(bytes)).toMatch(active);
    const examined = await checkPdf(bytes);
    if (!examined.ok) throw new Error(examined.objection);
    expect(everythingIn(examined.rewritten ?? bytes)).not.toMatch(active);
    expect(await findActive(examined.rewritten ?? bytes)).toEqual([]);
  },
);

it("[S4.47] a PDF that is taken is the same when it is taken once more", async () => {
  const ofLength = hide({
    objects: [
      ...base,
      [20, "<</Length 21 0 R>> stream\n0 g\nendstream"],
      [21, "3"],
      [30, `${plain.slice(0, -2)}/X 20 0 R>>`],
    ],
    root: 30,
  });
  for (const bytes of [...Object.values(files), ofLength]) {
    const once = await checkPdf(bytes);
    const twice = once.ok && once.rewritten !== undefined ? await checkPdf(once.rewritten) : undefined;
    expect(twice).toEqual(once);
  }
});

it("the reader of these tests finds what is hidden", async () => {
  const found = await Promise.all(Object.values(files).map(findActive));
  expect(found.map((each) => each.length > 0)).toEqual([true, true, true, false]);
});
