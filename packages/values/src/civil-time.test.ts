import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTimeZone, localTimeOf, sameLocalTimeNextDay, startOfLocalDay } from "./civil-time.ts";
import { formatInstant, parseInstant } from "./instant.ts";

function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`no instant: ${text}`);
  return instant;
}

describe("isTimeZone", () => {
  it.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Calcutta", "Asia/Kolkata"])(
    "knows %s",
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );

  it.each([
    "",
    "Berlin",
    "Europe/Atlantis",
    "europe/berlin",
    "+01:00",
    "Z",
    "2024-01-01T00:00Z[Europe/Berlin]",
    " UTC",
    "UTC\n",
    "Europe/Berlin\0",
    "../../etc/passwd",
  ])("does not know %j", (name) => {
    expect(isTimeZone(name)).toBe(false);
  });
});

describe("sameLocalTimeNextDay", () => {
  it.each([
    ["an ordinary day", "2024-06-01T18:00:00.000001Z", "Europe/Berlin", "2024-06-02T18:00:00.000001Z"],
    ["into summer time", "2024-03-30T19:00:00Z", "Europe/Berlin", "2024-03-31T18:00:00Z"],
    ["into winter time", "2024-10-26T18:00:00Z", "Europe/Berlin", "2024-10-27T19:00:00Z"],
    ["a time that the clocks skip", "2024-03-30T01:30:00Z", "Europe/Berlin", "2024-03-31T01:30:00Z"],
    ["a time that comes twice", "2024-10-26T00:30:00Z", "Europe/Berlin", "2024-10-27T01:30:00Z"],
    ["the first of two, to the day after", "2024-10-27T00:30:00Z", "Europe/Berlin", "2024-10-28T01:30:00Z"],
    ["over the end of a leap February", "2024-02-29T12:00:00Z", "UTC", "2024-03-01T12:00:00Z"],
    ["a skip of half an hour", "2024-10-05T15:40:00Z", "Australia/Lord_Howe", "2024-10-06T15:40:00Z"],
  ])("%s", (_name, from, zone, to) => {
    expect(formatInstant(sameLocalTimeNextDay(at(from), zone))).toBe(to);
  });

  it("returns to the wanted time on the day after a skip", () => {
    const before = at("2024-03-30T01:30:00Z");
    const wanted = localTimeOf(before, "Europe/Berlin");
    expect(wanted).toBe("02:30:00");
    const skipped = sameLocalTimeNextDay(before, "Europe/Berlin", wanted);
    expect(localTimeOf(skipped, "Europe/Berlin")).toBe("03:30:00");
    const after = sameLocalTimeNextDay(skipped, "Europe/Berlin", wanted);
    expect(formatInstant(after)).toBe("2024-04-01T00:30:00Z");
  });

  it("always moves forward by about a day", () => {
    const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC");
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e9 }), zone, (second, name) => {
        const hours = (sameLocalTimeNextDay(second * 1e6, name) - second * 1e6) / 3.6e9;
        expect(hours).toBeGreaterThanOrEqual(23);
        expect(hours).toBeLessThanOrEqual(26);
      }),
      { numRuns: 300 },
    );
  });

  it("throws for a zone that does not exist", () => {
    expect(() => sameLocalTimeNextDay(0, "Europe/Atlantis")).toThrow(RangeError);
  });
});

describe("startOfLocalDay", () => {
  it.each([
    ["2024-06-01T21:59:59.999999Z", "Europe/Berlin", "2024-05-31T22:00:00Z"],
    ["2024-06-01T22:00:00Z", "Europe/Berlin", "2024-06-01T22:00:00Z"],
    ["2024-03-31T20:00:00Z", "Europe/Berlin", "2024-03-30T23:00:00Z"],
    ["2024-06-01T02:00:00Z", "America/New_York", "2024-05-31T04:00:00Z"],
    // Midnight of this day was skipped: it began at one o'clock.
    ["2018-11-04T12:00:00Z", "America/Sao_Paulo", "2018-11-04T03:00:00Z"],
  ])("%s in %s", (instant, zone, expected) => {
    expect(formatInstant(startOfLocalDay(at(instant), zone))).toBe(expected);
  });
});
