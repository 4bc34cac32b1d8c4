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

/** For each mask, what it inverts in one period that the first one does not, or the other way round. */
const changes: readonly Uint8Array[] = masks.map((mask) =>
  Uint8Array.from({ length: rowPeriod * columnPeriod }, (_, index) => {
    const [row, column] = [Math.floor(index / columnPeriod), index % columnPeriod];
    return mask(row, column) === ((row + column) % 2 === 0) ? 0 : 1;
  }),
);

/**
 * Puts the mask on a code with which it is easiest to read, by the penalties of the standard. Several times faster than the
 * encoder's own choice, which takes longer than everything else about a ticket.
 */
export function chooseMask(code: MaskedCode): Uint8Array {
  let best = code.modules;
  let least = Number.POSITIVE_INFINITY;
  for (let mask = 0; mask < masks.length; mask += 1) {
    const modules = putMask(code, mask);
    const penalty = penaltyOf(modules, code.side);
    if (penalty < least) [best, least] = [modules, penalty];
  }
  return best;
}

function putMask({ side, modules, reserved, level }: MaskedCode, mask: number): Uint8Array {
  const result = new Uint8Array(modules.length);
  const change = changes[mask] ?? result;
  for (let row = 0, index = 0; row < side; row += 1) {
    const from = (row % rowPeriod) * columnPeriod;
    for (let column = 0; column < side; column += 1, index += 1) {
      const inverted = (change[from + (column % columnPeriod)] ?? 0) & ((reserved[index] ?? 1) ^ 1);
      result[index] = (modules[index] ?? 0) ^ inverted;
    }
  }
  const format = formatOf(level, mask);
  for (let bit = 0; bit < 15; bit += 1) {
    const value = (format >> bit) & 1;
    const row = bit < 6 ? bit : bit < 8 ? bit + 1 : side - 15 + bit;
    const column = bit < 8 ? side - 1 - bit : bit < 9 ? 7 : 14 - bit;
    result[row * side + 8] = value;
    result[8 * side + column] = value;
  }
  return result;
}

/** The level and the mask as a code says them about itself: five bits, ten that correct them, and a pattern on top. */
function formatOf(level: "L" | "M" | "H", mask: number): number {
  const data = ({ L: 1, M: 0, H: 2 }[level] << 3) | mask;
  let rest = data << 10;
  for (let bit = 14; bit >= 10; bit -= 1) if ((rest >> bit) & 1) rest ^= 0b10100110111 << (bit - 10);
  return ((data << 10) | rest) ^ 0b101010000010010;
}

/** A finder with free space on one side, where no finder is. */
const [finderBefore, finderAfter] = [0b10111010000, 0b00001011101];

/** What a module adds, by it and the ten before it: three for the fifth equal one, one for each after, 40 for a finder. */
const runPenalties = Uint8Array.from({ length: 1 << 11 }, (_, recent) => {
  const [five, six] = [recent & 0b11111, recent & 0b111111];
  if (five !== 0 && five !== 0b11111) return 0;
  return six === 0 || six === 0b111111 ? 1 : 3;
});
const penalties = runPenalties.map(
  (penalty, recent) => penalty + (recent === finderBefore || recent === finderAfter ? 40 : 0),
);

function penaltyOf(modules: Uint8Array, side: number): number {
  let dark = 0;
  for (const module of modules) dark += module;
  const balance = Math.floor(Math.abs((dark * 100) / modules.length - 50) / 5) * 10;
  return (
    balance +
    linePenalty(modules, side, [side, 1]) +
    linePenalty(modules, side, [1, side]) +
    blockPenalty(modules, side)
  );
}

/** Of long runs and of what looks like a finder, in all lines of one direction. */
function linePenalty(modules: Uint8Array, side: number, [lineStep, step]: readonly [number, number]): number {
  let penalty = 0;
  for (let line = 0; line < side; line += 1) {
    let index = line * lineStep;
    // Before the line there is nothing equal to its first module.
    let recent = modules[index] === 1 ? 0 : 0x7ff;
    for (const end = index + 10 * step; index < end; index += step) {
      recent = ((recent << 1) | (modules[index] ?? 0)) & 0x7ff;
      penalty += runPenalties[recent] ?? 0;
    }
    for (const end = line * lineStep + side * step; index < end; index += step) {
      recent = ((recent << 1) | (modules[index] ?? 0)) & 0x7ff;
      penalty += penalties[recent] ?? 0;
    }
  }
  return penalty;
}

/** Of squares of four equal modules. */
function blockPenalty(modules: Uint8Array, side: number): number {
  let penalty = 0;
  for (let row = 1; row < side; row += 1) {
    let last = 1;
    for (let index = row * side; index < (row + 1) * side; index += 1) {
      const pair = (modules[index] ?? 0) + (modules[index - side] ?? 0);
      if (pair !== 1 && pair === last) penalty += 3;
      last = pair;
    }
  }
  return penalty;
}
