import { type ModuleLines, ownBits, wordsOfLine } from "./module-lines.ts";

const own = lowest(ownBits);

/**
 * How hard a code is to read, by the penalties of the standard (ISO/IEC 18004, evaluation of masks). From `most` on the exact
 * number is not found.
 */
export function penaltyOf({ rows, columns }: ModuleLines, side: number, most: number): number {
  const balance = Math.floor(Math.abs((countDark(rows, side) * 100) / side ** 2 - 50) / 5) * 10;
  const ofRows = balance + blockPenalty(rows, side) + linePenalty(rows, side);
  return ofRows < most ? ofRows + linePenalty(columns, side) : ofRows;
}

/** The lowest bits. */
function lowest(count: number): number {
  return count >= 32 ? -1 : (1 << Math.max(0, count)) - 1;
}

function countDark(rows: Int32Array, side: number): number {
  const each = wordsOfLine(side);
  let dark = 0;
  for (let at = 0; at < rows.length; at += 1)
    dark += ones((rows[at] ?? 0) & own & lowest(side - (at % each) * ownBits));
  return dark;
}

/** Three for the fifth equal module and one for each after it; 40 for what looks like a finder. */
function linePenalty(lines: Int32Array, side: number): number {
  const each = wordsOfLine(side);
  let [fives, runs, found] = [0, 0, 0];
  for (let at = 0; at < lines.length; at += 1) {
    const word = lines[at] ?? 0;
    const light = ~word;
    const left = side - (at % each) * ownBits;
    // Bit n says of the modules from n on: two are equal, then three, then five.
    const two = ~(word ^ (word >>> 1));
    const three = two & (two >>> 1);
    const five = three & (three >>> 2) & lowest(Math.min(left, 32) - 4);
    fives += ones(five & own);
    // Where a run ends, the next five are not equal.
    runs += ones(five & ~(five >>> 1) & own);
    // A finder with four light modules after or before it, where no finder is.
    const whole = lowest(left - 10) & own;
    const finder = word & (light >>> 1) & (word >>> 2) & (word >>> 3) & (word >>> 4) & (light >>> 5) & (word >>> 6);
    const four = light & (light >>> 1) & (light >>> 2) & (light >>> 3);
    found += ones(finder & (four >>> 7) & whole) + ones(four & (finder >>> 4) & whole);
  }
  return fives + 2 * runs + 40 * found;
}

/** Three for each square of four equal modules. */
function blockPenalty(rows: Int32Array, side: number): number {
  const each = wordsOfLine(side);
  let squares = 0;
  for (let at = each; at < rows.length; at += 1) {
    const [word, above] = [rows[at] ?? 0, rows[at - each] ?? 0];
    const equal = ~(word ^ above);
    const within = lowest(side - (at % each) * ownBits - 1) & own;
    squares += ones(equal & (equal >>> 1) & ~(word ^ (word >>> 1)) & within);
  }
  return 3 * squares;
}

/** How many bits of a word are set. */
function ones(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
