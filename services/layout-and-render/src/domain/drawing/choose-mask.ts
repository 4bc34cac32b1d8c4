import { penaltyOf } from "./mask-penalty.ts";
import { type ModuleLines, packLines, unpackRows } from "./module-lines.ts";

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

/** What each mask inverts of a code that has the first mask on it, its format included. */
type Differences = readonly ModuleLines[];

/** By size and level: the modules that no mask changes depend on the size alone. */
const known = new Map<string, Differences>();

/**
 * Puts the mask on a code with which it is easiest to read, by the penalties of the standard. Several times faster than the
 * encoder's own choice, which takes longer than everything else about a ticket.
 */
export function chooseMask(code: MaskedCode): Uint8Array {
  const { side } = code;
  const plain = packLines(code.modules, side);
  let best = plain;
  let least = Number.POSITIVE_INFINITY;
  for (const differences of differencesOf(code)) {
    const rows = differ(plain.rows, differences.rows);
    const columns = differ(plain.columns, differences.columns);
    const penalty = penaltyOf({ rows, columns }, side, least);
    if (penalty < least) [best, least] = [{ rows, columns }, penalty];
  }
  return unpackRows(best, side);
}

function differ(words: Int32Array, changed: Int32Array): Int32Array {
  const result = new Int32Array(words.length);
  for (let at = 0; at < words.length; at += 1) result[at] = (words[at] ?? 0) ^ (changed[at] ?? 0);
  return result;
}

function differencesOf({ side, reserved, level }: MaskedCode): Differences {
  const key = `${side} ${level}`;
  const differences = known.get(key) ?? masks.map((mask, number) => packLines(findChanged(mask, number), side));
  known.set(key, differences);
  return differences;

  function findChanged(mask: (typeof masks)[number], number: number): Uint8Array {
    const changed = Uint8Array.from({ length: side * side }, (_, index) => {
      const [row, column] = [Math.floor(index / side), index % side];
      return reserved[index] === 0 && mask(row, column) !== ((row + column) % 2 === 0) ? 1 : 0;
    });
    const format = formatOf(level, number) ^ formatOf(level, 0);
    for (let bit = 0; bit < 15; bit += 1) {
      for (const [row, column] of placesOfFormat(bit, side)) changed[row * side + column] = (format >> bit) & 1;
    }
    return changed;
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
