import { seededNumbers } from "@tessera/testkit/seeded-numbers";

/** Random numbers that a failing test can repeat. */
export interface Dice {
  readonly seed: number;
  /** A whole number from 0, below the given one. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function rollFrom(seed: number): Dice {
  const next = seededNumbers(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    seed,
    below,
    pick(choices) {
      if (choices.length === 0) throw new Error("there is nothing to pick from");
      return choices[below(choices.length)] as (typeof choices)[number];
    },
  };
}
