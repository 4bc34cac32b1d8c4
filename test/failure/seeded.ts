import { randomInt } from "node:crypto";
import { type Dice, rollFrom } from "@tessera/testkit/dice";

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
