import { expect, it } from "vitest";
import { WaitLimit } from "./wait-limit.ts";

/** The limits while scans would wait so long, each at its millisecond. */
function limitsOf(waits: readonly (readonly [now: number, waitMs: number])[]): number[] {
  const limit = new WaitLimit();
  return waits.map(([now, waitMs]) => limit.whereWaitIs(waitMs, now));
}

it("[C3.47] of a burst scans may wait 200 ms, of a crowd that stays 100 ms", () => {
  const burst = [0, 300, 600, 999].map((now) => [now, now === 0 ? 0 : 190] as const);
  expect(limitsOf([...burst, [1000, 190], [5000, 99]])).toEqual([200, 200, 200, 200, 100, 100]);
});

it("[C3.47] a crowd stays until a scan would wait less than 50 ms", () => {
  expect(
    limitsOf([
      [0, 0],
      [2000, 120],
      [2100, 50],
      [2200, 49],
      [3100, 150],
      [3200, 150],
    ]),
  ).toEqual([200, 100, 100, 200, 200, 100]);
});

it("[C3.47] a burst after an idle hour is a burst", () => {
  expect(
    limitsOf([
      [0, 0],
      [3_600_000, 0],
      [3_600_900, 199],
    ]),
  ).toEqual([200, 200, 200]);
});
