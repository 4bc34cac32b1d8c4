import { expect, it } from "vitest";
import { RecentInside } from "./recent-inside.ts";

const now = 1_800_000_000;

/** Persons at seconds before now, oldest first. */
function watched(...samples: readonly (readonly [ago: number, persons: number])[]) {
  const recent = new RecentInside();
  for (const [ago, persons] of samples) recent.note(7, { at: now - ago, persons });
  return (limit: number, persons: number) => recent.whenReached(7, { limit, now: { at: now, persons } });
}

it.each([
  ["at the rate of the time that was watched", [[100, 0]], 200, 100, 100],
  [
    "at that of the last five minutes alone",
    [
      [900, 0],
      [300, 400],
    ],
    600,
    500,
    300,
  ],
  ["at once where it is reached", [], 500, 500, 0],
  ["at once where it is exceeded", [], 500, 700, 0],
] as const)("[B1.10] a limit is reached %s", (_name, samples, limit, persons, expected) => {
  expect(watched(...samples, [0, persons])(limit, persons)).toBe(now + expected);
});

it.each([
  ["before a minute was watched", [[59, 0]], 200, 100],
  ["while as many leave as come", [[100, 100]], 200, 100],
  ["while more leave", [[100, 150]], 200, 100],
  ["where it takes more than six hours", [[100, 99]], 400, 100],
] as const)("[B1.10] when it is reached is not known %s", (_name, samples, limit, persons) => {
  expect(watched(...samples)(limit, persons)).toBeUndefined();
});

it("[B1.10] keeps few samples, however often an event is watched", () => {
  const recent = new RecentInside();
  for (let ago = 1000; ago >= 0; ago -= 1) recent.note(7, { at: now - ago, persons: 1000 - ago });
  expect(recent.whenReached(7, { limit: 1300, now: { at: now, persons: 1000 } })).toBe(now + 300);
});
