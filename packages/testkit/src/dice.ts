import { seededNumbers } from "./seeded-numbers.ts";

/** Random numbers that a failing test can repeat. */
export interface Dice {
  readonly seed: number;
  /** A whole number from 0, below the given one. */
  below(limit: number): number;
  /** True in this percentage of cases. */
  chance(percent: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Separate dice for callers whose order of calls varies. */
  fork(): Dice;
}

/** Makes dice with the same results for the same seed. */
export function rollFrom(seed: number): Dice {
  const next = seededNumbers(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    seed,
    below,
    chance: (percent) => below(100) < percent,
    pick(choices) {
      if (choices.length === 0) throw new Error("there is nothing to pick from");
      return choices[below(choices.length)] as (typeof choices)[number];
    },
    fork: () => rollFrom(below(2 ** 32)),
  };
}
