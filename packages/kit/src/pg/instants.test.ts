import { describe, expect, it } from "vitest";
import { parseTimestamp, toNullableTimestamp, toTimestamp } from "./instants.ts";

/** What Postgres prints for what it was given. */
const printed = (written: string) =>
  written.replace("T", " ").replace(/\.?0*Z$/, (end) => (end.includes(".") ? "+00" : `${end.slice(0, -1)}+00`));

/** Numbers that are the same in every run. */
function* seeded(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

const second = 1_000_000;
const yearOne = -62_135_596_800 * second;
const yearTenThousand = 253_402_300_800 * second;

describe("toTimestamp", () => {
  it.each([
    [0, "1970-01-01T00:00:00.000000Z"],
    [1, "1970-01-01T00:00:00.000001Z"],
    [-1, "1969-12-31T23:59:59.999999Z"],
    [-second, "1969-12-31T23:59:59.000000Z"],
    [1_795_255_200_123_456, "2026-11-21T10:00:00.123456Z"],
    [Number.MAX_SAFE_INTEGER, "2255-06-05T23:47:34.740991Z"],
    [Number.MIN_SAFE_INTEGER, "1684-07-28T00:12:25.259009Z"],
    [yearOne, "0001-01-01T00:00:00.000000Z"],
    [yearTenThousand - second, "9999-12-31T23:59:59.000000Z"],
    [-59_011_459_200 * second, "0100-01-01T00:00:00.000000Z"],
    [-59_011_459_201 * second, "0099-12-31T23:59:59.000000Z"],
  ])("writes %d", (instant, text) => {
    expect(toTimestamp(instant)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, yearOne - 64, yearTenThousand, 8.64e21])(
    "refuses %d",
    (instant) => {
      expect(() => toTimestamp(instant)).toThrow(RangeError);
    },
  );
});

describe("toNullableTimestamp", () => {
  it("writes null for what is not there, and 1970 for zero", () => {
    expect([null, undefined, 0].map(toNullableTimestamp)).toEqual([null, null, "1970-01-01T00:00:00.000000Z"]);
  });
});

describe("parseTimestamp", () => {
  it.each([
    ["1970-01-01 00:00:00+00", 0],
    ["1970-01-01 00:00:00.1+00", 100_000],
    ["1969-12-31 23:59:59.999999+00", -1],
    ["2026-11-21 10:00:00.123456+00", 1_795_255_200_123_456],
    ["2024-02-29 23:59:60+00", Date.UTC(2024, 2, 1) * 1000],
    ["0001-01-01 00:00:00+00", yearOne],
    ["0070-01-01 00:00:00+00", -59_958_144_000 * second],
    ["0099-12-31 23:59:59+00", -59_011_459_201 * second],
    ["0096-02-29 00:00:00+00", -59_132_592_000 * second],
    ["9999-12-31 23:59:59+00", yearTenThousand - second],
  ])("reads %s", (text, instant) => {
    expect(parseTimestamp(text)).toBe(instant);
  });

  it.each([
    "infinity",
    "-infinity",
    "10000-01-01 00:00:00+00",
    "0001-12-31 23:59:59+00 BC",
    "2026-11-21 10:00:00+01",
    "2026-11-21T10:00:00Z",
    "",
  ])("refuses %s", (text) => {
    expect(() => parseTimestamp(text)).toThrow(RangeError);
  });
});

describe("the way to Postgres and back", () => {
  it("keeps every microsecond between 1684 and 2255", () => {
    const random = seeded(1);
    for (let round = 0; round < 20_000; round += 1) {
      const instant = Math.trunc((random.next().value * 2 - 1) * Number.MAX_SAFE_INTEGER);
      expect(parseTimestamp(printed(toTimestamp(instant)))).toBe(instant);
    }
  });

  it("keeps every number between the years 0001 and 9999", () => {
    const random = seeded(2);
    for (let round = 0; round < 20_000; round += 1) {
      const instant = Math.round(yearOne + random.next().value * (yearTenThousand - 64 - yearOne));
      const written = toTimestamp(instant);
      expect(written).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(parseTimestamp(printed(written))).toBe(instant);
    }
  });

  it("keeps the order of the microseconds around every boundary", () => {
    for (const start of [
      0,
      second,
      -second,
      yearOne + second,
      Date.UTC(2026, 2, 29, 1) * 1000,
      Number.MAX_SAFE_INTEGER - 5,
    ]) {
      const around = [-3, -2, -1, 0, 1, 2, 3].map((offset) => toTimestamp(start + offset));
      expect(around.toSorted()).toEqual(around);
    }
  });
});
