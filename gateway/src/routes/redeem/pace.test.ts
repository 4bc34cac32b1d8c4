import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pace } from "./pace.ts";

let clock: number;

beforeEach(() => {
  clock = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => clock);
});
afterEach(() => void vi.restoreAllMocks());

/** Times equal calls, one after the other. */
function timeCalls(pace: Pace, calls: number, { scans, ms }: { scans: number; ms: number }): Pace {
  for (let call = 0; call < calls; call += 1) {
    const timed = pace.begin(scans);
    clock += ms;
    timed.end();
  }
  return pace;
}

it("counts on a thousand scans a second before anything is measured", () => {
  expect(new Pace().within(200)).toBe(200);
});

it("follows what calls take", () => {
  expect(timeCalls(new Pace(), 20, { scans: 50, ms: 100 }).within(200)).toBeCloseTo(100, 0);
  expect(timeCalls(new Pace(), 60, { scans: 64, ms: 8 }).within(200)).toBeGreaterThan(1500);
});

it("follows a call that takes long at once, and looks back a tenth of a second", () => {
  const pace = timeCalls(new Pace(), 60, { scans: 64, ms: 8 });
  timeCalls(pace, 1, { scans: 64, ms: 2000 });
  expect(pace.within(200)).toBeCloseTo(6.4, 1);
  timeCalls(pace, 60, { scans: 64, ms: 8 });
  expect(pace.within(200)).toBeGreaterThan(500);
});

it("counts calls that overlap by the times between their ends", () => {
  const pace = new Pace();
  let other = pace.begin(64);
  for (let call = 0; call < 40; call += 1) {
    const timed = pace.begin(64);
    clock += 32;
    other.end();
    other = timed;
  }
  expect(pace.within(200)).toBeCloseTo(400, 0);
});

it("does not count the time in which nothing was under way", () => {
  const pace = timeCalls(new Pace(), 20, { scans: 64, ms: 64 });
  clock += 60_000;
  expect(timeCalls(pace, 1, { scans: 64, ms: 64 }).within(200)).toBeCloseTo(200, 0);
});

it("learns nothing from calls of a few scans, and from those that fail", () => {
  const pace = timeCalls(new Pace(), 100, { scans: 3, ms: 30 });
  const failing = pace.begin(64);
  clock += 5000;
  failing.fail();
  expect(pace.within(200)).toBe(200);
});

it("notices calls that do not end for a second, until they end", () => {
  const pace = new Pace();
  const calls = [pace.begin(64), pace.begin(36)];
  clock += 999;
  expect(pace.within(200)).toBe(200);
  clock += 1001;
  expect(pace.within(200)).toBe(10);
  for (const call of calls) call.fail();
  expect(pace.within(200)).toBe(200);
});
