import { randomInt } from "node:crypto";
import { seededNumbers } from "@tessera/testkit/seeded-numbers";

/** Random numbers that a failing test can repeat. */
export interface Dice {
  /** A whole number from 0, below the given one. */
  below(limit: number): number;
  /** True in this percentage of cases. */
  chance(percent: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Separate dice for callers whose order of calls varies. */
  fork(): Dice;
}

/** Makes dice with the same results for the same seed. */
function rollFrom(seed: number): Dice {
  const next = seededNumbers(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (percent) => below(100) < percent,
    pick: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    fork: () => rollFrom(below(2 ** 32)),
  };
}

/** All values, in a random order. */
export function shuffle<T>(values: readonly T[], dice: Dice): T[] {
  return values
    .map((value) => ({ value, at: dice.below(2 ** 31) }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/** Whether there is time for every fault: `npm run test:fire`. */
export const isLong = process.env["FIRE_ROUNDS"] !== undefined;

/** Reports measurements of a test; the runner prints them if the test fails, or on request. */
export function report(measured: Readonly<Record<string, unknown>>): void {
  console.log(JSON.stringify(measured, undefined, 1));
}

/** Runs a test on random numbers. Its report and a failure name the seed; `FAILURE_SEED` repeats it, except for timing. */
export async function withDice(test: (dice: Dice) => Promise<void>): Promise<void> {
  const seed = Number(process.env["FAILURE_SEED"] ?? randomInt(2 ** 31));
  report({ FAILURE_SEED: seed });
  try {
    await test(rollFrom(seed));
  } catch (error) {
    if (error instanceof Error) error.message += `\nFAILURE_SEED=${seed}`;
    throw error;
  }
}
