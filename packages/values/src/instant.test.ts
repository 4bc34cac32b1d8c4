import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatInstant, parseInstant } from "./instant.ts";

const noon = Date.UTC(2024, 1, 29, 12, 0, 0) * 1000;

describe("parseInstant", () => {
  it.each([
    ["2024-02-29T12:00:00Z", noon],
    ["2024-02-29 12:00:00Z", noon],
    ["2024-02-29T12:00Z", noon],
    ["2024-02-29T12:00:00", noon],
    ["2024-02-29 12:00", noon],
    ["2024-02-29T13:30:00+01:30", noon],
    ["2024-02-29T13:30:00+0130", noon],
    ["2024-02-29T07:00-05:00", noon],
    ["2024-02-29T12:00:00-00:00", noon],
    ["2024-02-29T12:00:00.1Z", noon + 100_000],
    ["2024-02-29T12:00:00.123Z", noon + 123_000],
    ["2024-02-29T12:00:00.123456Z", noon + 123_456],
    ["2024-02-29T12:00:00.000001", noon + 1],
    ["2024-02-29T12:00:00.1234567Z", noon + 123_456],
    ["2024-02-29T12:00:00.123456999Z", noon + 123_456],
    ["2024-02-29T12:00:00.000000000", noon],
    ["2024-02-29T12:00:00,5Z", noon + 500_000],
    ["2024-02-29t12:00:00z", noon],
    ["2024-02-29T13:00:00+01", noon],
    ["2024-02-29T12:00:00.1234567-00", noon + 123_456],
    ["2024-02-29", noon - 12 * 3_600_000_000],
    ["1970-01-01T00:00:00Z", 0],
    ["1969-12-31T23:59:59.999999Z", -1],
    ["2000-02-29T00:00:00Z", 951_782_400_000_000],
    ["0001-01-01T00:00:00Z", -62_135_596_800_000_000],
    ["9999-12-31T23:59:59Z", 253_402_300_799_000_000],
  ])("reads %s", (text, expected) => {
    expect(parseInstant(text)).toBe(expected);
  });

  it.each([
    "",
    " ",
    "now",
    "2024",
    "2024-02",
    "20240229T120000Z",
    "2024-2-29",
    "2023-02-29",
    "1900-02-29T00:00:00Z",
    "2024-02-30",
    "2024-04-31",
    "2024-00-01",
    "2024-13-01",
    "2024-01-00",
    "2024-01-32",
    "0000-01-01",
    "+02024-02-29",
    "-0001-01-01",
    "2024-02-29T",
    "2024-02-29T12",
    "2024-02-29T12:",
    "2024-02-29T12:0",
    "2024-02-29T12:00:",
    "2024-02-29T12:00:0",
    "2024-02-29T24:00:00Z",
    "2024-02-29T12:60:00Z",
    "2024-02-29T12:00:60Z",
    "2024-02-29T12:00:00.Z",
    "2024-02-29T12:00.5Z",
    "2024-02-29T12:00:00 Z",
    "2024-02-29  12:00:00Z",
    "2024-02-29Z",
    "2024-02-29+01:00",
    "2024-02-29T12:00:00+1",
    "2024-02-29T12:00:00,Z",
    "2024-02-29T12:00:00+0",
    "2024-02-29T12:00:00+01:",
    "2024-02-29T12:00:00+011",
    "2024-02-29T12:00:00+01:0",
    "2024-02-29T12:00:00+01:000",
    "2024-02-29T12:00:00+24:00",
    "2024-02-29T12:00:00+01:60",
    "2024-02-29T12:00:00Z ",
    " 2024-02-29T12:00:00Z",
    "2024-02-29T12:00:00ZZ",
    "2024-02-29T12:00:00Z\n",
    "２０２４-02-29",
    "٢٠٢٤-02-29",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
  ])("refuses %j", (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it("agrees with the platform's calendar on every day of eight centuries around the exceptions", () => {
    const wrong: string[] = [];
    for (let day = Date.UTC(1600, 0, 1); day < Date.UTC(2401, 0, 1); day += 86_400_000) {
      const text = new Date(day).toISOString().slice(0, 10);
      if (parseInstant(text) !== day * 1000 || formatInstant(day * 1000) !== `${text}T00:00:00Z`) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });

  it("accepts a date exactly when the calendar has it", () => {
    const part = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), part, part, (year, month, day) => {
        const pad = (value: number, length: number) => String(value).padStart(length, "0");
        const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
        const date = new Date(`${text}T00:00:00Z`);
        const real = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
        expect(parseInstant(text)).toBe(real ? date.getTime() * 1000 : undefined);
      }),
    );
  });

  it("stays inside of 9999 where a number cannot hold the fraction", () => {
    const end = parseInstant("9999-12-31T23:59:59.999999Z");
    expect(end).toBe(253_402_300_799_000_000);
    expect(formatInstant(end ?? 0)).toBe("9999-12-31T23:59:59Z");
    expect(parseInstant("0001-01-01T00:00:00.000001Z")).toBe(-62_135_596_800_000_000);
  });
});

describe("formatInstant", () => {
  it.each([
    [noon, "2024-02-29T12:00:00Z"],
    [noon + 123_000, "2024-02-29T12:00:00.123000Z"],
    [noon + 1, "2024-02-29T12:00:00.000001Z"],
    [-1, "1969-12-31T23:59:59.999999Z"],
    [-62_135_596_800_000_000, "0001-01-01T00:00:00Z"],
    [253_402_300_799_000_000, "9999-12-31T23:59:59Z"],
  ])("writes %d", (instant, expected) => {
    expect(formatInstant(instant)).toBe(expected);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, -62_135_596_801_000_000, 253_402_300_800_000_000])(
    "throws for %d, which is no instant",
    (value) => {
      expect(() => formatInstant(value)).toThrow(RangeError);
    },
  );

  it("writes what parseInstant reads back, to the microsecond", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (instant) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
      }),
    );
  });

  it("writes whole seconds that can be read back in all years", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (second) => {
        expect(parseInstant(formatInstant(second * 1e6))).toBe(second * 1e6);
      }),
    );
  });

  it("reads the same moment through any offset", () => {
    const offset = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 });
    fc.assert(
      fc.property(fc.integer({ min: -4e9, max: 4e9 }), offset, (second, minutes) => {
        const local = formatInstant((second + minutes * 60) * 1e6).slice(0, -1);
        const pad = (value: number) => String(value).padStart(2, "0");
        const size = Math.abs(minutes);
        const suffix = `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
        expect(parseInstant(local + suffix)).toBe(second * 1e6);
      }),
    );
  });
});
