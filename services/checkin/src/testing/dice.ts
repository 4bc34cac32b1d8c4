/** Random numbers that a failing test can repeat. */
export interface Dice {
  readonly seed: number;
  /** A whole number from 0, below the given one. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function rollFrom(seed: number): Dice {
  let state = seed >>> 0;
  const below = (limit: number) => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    seed,
    below,
    pick(choices) {
      if (choices.length === 0) throw new Error("there is nothing to pick from");
      return choices[below(choices.length)] as (typeof choices)[number];
    },
  };
}
