import { expect, it } from "vitest";
import { type CountedPersons, decideLimits } from "./limit-alarms.ts";

const counted = (persons: number, softLimit: number | null, hardLimit: number | null): CountedPersons => ({
  ...{ list: 7, persons, softLimit, hardLimit },
});

it.each([
  [counted(89, null, 100), false, false],
  [counted(90, null, 100), false, true],
  [counted(100, null, 100), false, true],
  [counted(120, null, 100), false, true],
  [counted(85, null, 100), true, true],
  [counted(84, null, 100), true, false],
  [counted(72, 80, 100), false, true],
  [counted(71, 80, 100), false, false],
  [counted(90, 100, null), false, true],
  [counted(5, null, null), false, false],
])("[B4.14] with %o, open: %s, the alarm holds: %s", (count, wasOpen, holds) => {
  expect(decideLimits([count], { isOpen: () => wasOpen })).toHaveLength(holds ? 1 : 0);
});

it("[B4.14] names the list, the persons inside, and the limit that is near", () => {
  expect(decideLimits([counted(95, null, 100)], { isOpen: () => false })).toEqual([
    { kind: "limit_near", gate: null, device: null, list: 7, since: null, measured: 95, usual: 100 },
  ]);
});
