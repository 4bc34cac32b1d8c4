import { expect, it } from "vitest";
import { Pace } from "./pace.ts";

/** Notes equal calls, one after the other or two at a time. */
function paceOf(calls: number, { scans, ms, atOnce = 1 }: { scans: number; ms: number; atOnce?: number }): Pace {
  const pace = new Pace();
  for (let call = 0; call < calls; call += 1) {
    const to = 1000 + (call * ms) / atOnce;
    pace.note({ scans, from: to - ms, to });
  }
  return pace;
}

it("counts on two thousand scans a second before anything is measured", () => {
  expect(new Pace().within(200)).toBe(400);
});

it("follows what calls take", () => {
  expect(paceOf(50, { scans: 50, ms: 50 }).within(200)).toBeCloseTo(200, 0);
  expect(paceOf(50, { scans: 64, ms: 8 }).within(200)).toBeCloseTo(1600, -1);
});

it("counts calls that overlap by the times between their ends", () => {
  expect(paceOf(100, { scans: 64, ms: 64, atOnce: 2 }).within(200)).toBeCloseTo(400, 0);
});

it("learns nothing from calls of a few scans", () => {
  expect(paceOf(100, { scans: 3, ms: 30 }).within(200)).toBe(400);
});
