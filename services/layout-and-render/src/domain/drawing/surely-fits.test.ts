import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { mostWidthOf, surelyFits } from "./surely-fits.ts";

const root = dirname(fileURLToPath(import.meta.resolve("@expo-google-fonts/open-sans/package.json")));
const styles = ["400Regular", "700Bold", "400Regular_Italic", "700Bold_Italic"];

/** Reads the widths of a font in em, by code point (OpenType, tables `cmap` format 4, `hmtx`). */
function readWidths(style: string): ReadonlyMap<number, number> {
  const font = readFileSync(join(root, style, `OpenSans_${style}.ttf`));
  const tables = new Map(
    Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index).map((at) => [
      font.toString("latin1", at, at + 4),
      font.subarray(font.readUInt32BE(at + 8)),
    ]),
  );
  const [head, hhea, hmtx, cmap] = ["head", "hhea", "hmtx", "cmap"].map((name) => tables.get(name) ?? Buffer.alloc(0));
  if (head === undefined || hhea === undefined || hmtx === undefined || cmap === undefined) return new Map();
  const [em, metrics] = [head.readUInt16BE(18), hhea.readUInt16BE(34)];
  const found = new Map<number, number>();
  for (let part = 0; part < cmap.readUInt16BE(2); part += 1) {
    const table = cmap.subarray(cmap.readUInt32BE(8 + 8 * part));
    if (table.readUInt16BE(0) !== 4) continue;
    const size = table.readUInt16BE(6);
    for (let at = 14; at < 14 + size; at += 2) {
      const [last, first] = [table.readUInt16BE(at), table.readUInt16BE(at + size + 2)];
      const [delta, offset] = [table.readInt16BE(at + 2 * size + 2), table.readUInt16BE(at + 3 * size + 2)];
      for (let code = first; code <= last; code += 1) {
        const place = at + 3 * size + 2 + offset + 2 * (code - first);
        const read = offset === 0 ? code : table.readUInt16BE(place);
        const glyph = (read + delta) & 0xffff;
        if (read !== 0 && glyph !== 0) found.set(code, hmtx.readUInt16BE(4 * Math.min(glyph, metrics - 1)) / em);
      }
    }
  }
  return found;
}

const line = { advance: 1.15, afterHardBreak: 0 };
const box = (width: number, height: number) => ({ width, height, fontSize: 10 });

describe("a text that is not measured", () => {
  it("has letters of Open Sans alone, which are not wider than it is taken for", () => {
    const fonts = styles.map(readWidths);
    const known = Array.from({ length: 0x10000 }, (_, code) => code).filter(
      (code) => !Number.isNaN(mostWidthOf(String.fromCharCode(code))),
    );
    expect(known.length).toBeGreaterThan(400);
    for (const code of known) {
      const most = mostWidthOf(String.fromCharCode(code));
      for (const font of fonts) expect(font.get(code), String.fromCharCode(code)).toBeLessThan(most * 0.98);
    }
  });

  it.each([
    ["a short text", ["Rang Mitte"], box(50, 5), true],
    ["a text of two lines in a box for two", ["Altes Pumpwerk, Piepmarkter Straße 12"], box(80, 9), true],
    ["the same in a box for one", ["Altes Pumpwerk, Piepmarkter Straße 12"], box(80, 5), false],
    ["lines that its author ended", ["a", "", "b"], box(20, 13), true],
    ["too many of them", ["a", "", "b"], box(20, 12), false],
    ["a word that is wider than its box", ["Donaudampfschifffahrt"], box(20, 100), false],
    ["letters of other fonts", ["山"], box(200, 100), false],
    ["a box without height", ["a"], box(20, 0), false],
    ["a box without width", ["a"], box(-1, 10), false],
  ])("fits: %s", (_name, lines, size, fits) => {
    expect(surelyFits(lines, size, line)).toBe(fits);
  });
});
