import { unpackCmap } from "./unpack-cmap.ts";

/** Reads which characters a font has (OpenType, table `cmap`): style sheets may claim too much. */
export function readCoverage(font: Buffer): ReadonlySet<number> {
  const characters = new Set<number>();
  const table = font.toString("latin1", 0, 4) === "wOF2" ? unpackCmap(font) : findTable(font, "cmap");
  for (let index = 0; index < table.readUInt16BE(2); index += 1) {
    const part = table.subarray(table.readUInt32BE(8 + 8 * index));
    const format = part.readUInt16BE(0);
    for (const character of format === 12 ? readGroups(part) : format === 4 ? readSegments(part) : [])
      characters.add(character);
  }
  return characters;
}

function findTable(font: Buffer, wanted: string): Buffer {
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const at = 12 + 16 * index;
    if (font.toString("latin1", at, at + 4) === wanted) return font.subarray(font.readUInt32BE(at + 8));
  }
  throw new Error(`a font has no table ${wanted}`);
}

/** Format 12: ranges of any characters. */
function* readGroups(part: Buffer): Generator<number> {
  for (let group = 0; group < part.readUInt32BE(12); group += 1) {
    const at = 16 + 12 * group;
    for (let character = part.readUInt32BE(at); character <= part.readUInt32BE(at + 4); character += 1) yield character;
  }
}

/** Format 4: ranges of characters up to U+FFFF, some of which may have no glyph. */
function* readSegments(part: Buffer): Generator<number> {
  const size = part.readUInt16BE(6);
  for (let at = 14; at < 14 + size; at += 2) {
    const [last, first] = [part.readUInt16BE(at), part.readUInt16BE(at + size + 2)];
    const [delta, offset] = [part.readInt16BE(at + 2 * size + 2), part.readUInt16BE(at + 3 * size + 2)];
    for (let character = first; character <= last && character < 0xffff; character += 1) {
      const glyph =
        offset === 0
          ? (character + delta) & 0xffff
          : part.readUInt16BE(at + 3 * size + 2 + offset + 2 * (character - first));
      if (glyph !== 0) yield character;
    }
  }
}
