import { penaltyOf } from "./mask-penalty.ts";
import { invert, ownBits, packLines, unpackRows, wordsOfLine } from "./module-lines.ts";

/** A code with the first mask on it. */
export interface MaskedCode {
  readonly side: number;
  /** 1: dark. */
  readonly modules: Uint8Array;
  /** 1: no mask changes it. */
  readonly reserved: Uint8Array;
  /** Of its redundancy. */
  readonly level: "L" | "M" | "H";
}

/** What each mask inverts, by row and column, as the standard has it. */
const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_row, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row * column) % 3) + ((row + column) % 2)) % 2 === 0,
];

/** All masks repeat after so many rows and columns. */
const [rowPeriod, columnPeriod] = [12, 6];

/** What one mask inverts that the first one does not, or the other way round. */
interface Change {
  /** Words of lines, by the phase of the line and that of the word's first module. */
  readonly ofRows: readonly Int32Array[];
  readonly ofColumns: readonly Int32Array[];
}

const changes: readonly Change[] = masks.map((mask) => {
  const differs = (row: number, column: number) => (mask(row, column) === ((row + column) % 2 === 0) ? 0 : 1);
  const words = (lines: number, places: number, at: (line: number, place: number) => number) =>
    Array.from({ length: lines }, (_, line) =>
      Int32Array.from({ length: places }, (_, first) => {
        let word = 0;
        for (let bit = 0; bit < 32; bit += 1) word |= at(line, first + bit) << bit;
        return word;
      }),
    );
  return {
    ofRows: words(rowPeriod, columnPeriod, differs),
    ofColumns: words(columnPeriod, rowPeriod, (column, row) => differs(row, column)),
  };
});

/**
 * Puts the mask on a code with which it is easiest to read, by the penalties of the standard. Several times faster than the
 * encoder's own choice, which takes longer than everything else about a ticket.
 */
export function chooseMask(code: MaskedCode): Uint8Array {
  const { side, level } = code;
  const plain = packLines(code.modules, side);
  const free = packLines(
    code.reserved.map((reserved) => 1 - reserved),
    side,
  );
  let best = plain;
  let least = Number.POSITIVE_INFINITY;
  for (const [mask, { ofRows, ofColumns }] of changes.entries()) {
    const lines = {
      rows: change(plain.rows, free.rows, ofRows),
      columns: change(plain.columns, free.columns, ofColumns),
    };
    const differing = formatOf(level, mask) ^ formatOf(level, 0);
    for (let bit = 0; bit < 15; bit += 1) {
      if (((differing >> bit) & 1) === 0) continue;
      for (const place of placesOfFormat(bit, side)) invert(lines, side, place);
    }
    const penalty = penaltyOf(lines, side, least);
    if (penalty < least) [best, least] = [lines, penalty];
  }
  return unpackRows(best, side);

  function change(words: Int32Array, freeWords: Int32Array, changed: readonly Int32Array[]): Int32Array {
    const each = wordsOfLine(side);
    const result = new Int32Array(words.length);
    for (let line = 0, at = 0; line < side; line += 1) {
      const phases = changed[line % changed.length] ?? result;
      for (let first = 0, word = 0; word < each; word += 1, first += ownBits, at += 1)
        result[at] = (words[at] ?? 0) ^ ((phases[first % phases.length] ?? 0) & (freeWords[at] ?? 0));
    }
    return result;
  }
}

/** Where a bit of the format stands: row and column, twice. */
function placesOfFormat(bit: number, side: number): readonly (readonly [number, number])[] {
  const row = bit < 6 ? bit : bit < 8 ? bit + 1 : side - 15 + bit;
  const column = bit < 8 ? side - 1 - bit : bit < 9 ? 7 : 14 - bit;
  return [
    [row, 8],
    [8, column],
  ];
}

/** The level and the mask as a code says them about itself: five bits, ten that correct them, and a pattern on top. */
function formatOf(level: "L" | "M" | "H", mask: number): number {
  const data = ({ L: 1, M: 0, H: 2 }[level] << 3) | mask;
  let rest = data << 10;
  for (let bit = 14; bit >= 10; bit -= 1) if ((rest >> bit) & 1) rest ^= 0b10100110111 << (bit - 10);
  return ((data << 10) | rest) ^ 0b101010000010010;
}
