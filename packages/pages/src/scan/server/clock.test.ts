import { beforeEach, describe, expect, it, vi } from "vitest";
import { clockAhead, clockTrouble, compareClocks, now } from "./clock.ts";

const at = Date.UTC(2027, 4, 12, 6, 31, 8, 700);
const header = "Wed, 12 May 2027 06:31:08 GMT";
const hour = 3_600_000;

beforeEach(() => {
  clockAhead.value = 0;
});

describe("[G4.5] the clock of the device", () => {
  it.each([
    ["right", 0, 0],
    ["right within the time that an answer takes", 1400, 0],
    ["an hour fast", hour, hour],
    ["an hour slow", -hour, -hour],
    ["three minutes slow", -180_000, -180_000],
  ])("is %s", (_name, error, expected) => {
    compareClocks(header, { asked: at + error - 40, came: at + error + 40 });
    expect(Math.abs(clockAhead.value - expected)).toBeLessThan(1000);
    expect(clockAhead.value === 0).toBe(expected === 0);
    vi.useFakeTimers({ now: at + error });
    expect(Math.abs(now() - at)).toBeLessThan(2000);
    vi.useRealTimers();
  });

  it.each([
    ["no date", null, at, at],
    ["a date that is none", "yesterday", at + hour, at + hour],
    ["a clock that was set meanwhile", header, at + hour, at],
  ])("stays as it is by %s", (_name, date, before, after) => {
    compareClocks(date, { asked: before, came: after });
    expect(clockAhead.value).toBe(0);
  });

  it("does not waver with each answer, and is right again once it was set", () => {
    compareClocks(header, { asked: at + hour, came: at + hour });
    const first = clockAhead.value;
    compareClocks(header, { asked: at + hour + 900, came: at + hour + 1000 });
    expect(clockAhead.value).toBe(first);
    compareClocks(header, { asked: at, came: at });
    expect(clockAhead.value).toBe(0);
  });

  it.each([
    [0, undefined],
    [119_000, undefined],
    [-119_000, undefined],
    [hour, { isFast: true, byMs: hour }],
    [-hour, { isFast: false, byMs: hour }],
  ])("that is %d ms ahead is told as %j", (ahead, expected) => {
    expect(clockTrouble(ahead)).toEqual(expected);
  });
});
