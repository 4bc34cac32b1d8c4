/**
 * A line of modules is kept in words of 32 bits. Each adds so many modules and repeats the ten after them, so that everything
 * that begins in its own part and is at most eleven modules long lies in one word.
 */
export const ownBits = 22;

/** The modules of a code in words, line after line: what is true of 22 modules is found in a few steps. */
export interface ModuleLines {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

export function wordsOfLine(side: number): number {
  return Math.ceil(side / ownBits);
}

/** Makes words of modules, which are given row by row: 1 or 0. */
export function packLines(modules: Uint8Array, side: number): ModuleLines {
  return { rows: pack(modules, side, [side, 1]), columns: pack(modules, side, [1, side]) };
}

function pack(modules: Uint8Array, side: number, [lineStep, step]: readonly [number, number]): Int32Array {
  const words = new Int32Array(side * wordsOfLine(side));
  for (let line = 0, at = 0; line < side; line += 1) {
    for (let first = 0; first < side; first += ownBits, at += 1) {
      const length = Math.min(32, side - first);
      let word = 0;
      for (let bit = 0, index = line * lineStep + first * step; bit < length; bit += 1, index += step)
        word |= (modules[index] ?? 0) << bit;
      words[at] = word;
    }
  }
  return words;
}

/** Makes modules of words, row by row. */
export function unpackRows({ rows }: ModuleLines, side: number): Uint8Array {
  const modules = new Uint8Array(side * side);
  const each = wordsOfLine(side);
  for (let row = 0, index = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1, index += 1)
      modules[index] = ((rows[row * each + Math.floor(column / ownBits)] ?? 0) >>> (column % ownBits)) & 1;
  }
  return modules;
}

/** Inverts one module. */
export function invert({ rows, columns }: ModuleLines, side: number, [row, column]: readonly [number, number]): void {
  invertIn(rows, side, [row, column]);
  invertIn(columns, side, [column, row]);
}

function invertIn(lines: Int32Array, side: number, [line, place]: readonly [number, number]): void {
  const word = Math.floor(place / ownBits);
  const bit = place % ownBits;
  const at = line * wordsOfLine(side) + word;
  lines[at] = (lines[at] ?? 0) ^ (1 << bit);
  if (word > 0 && bit + ownBits < 32) lines[at - 1] = (lines[at - 1] ?? 0) ^ (1 << (bit + ownBits));
}
