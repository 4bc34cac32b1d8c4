import { parseInstant } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { dayLength, isoWeekday, openZone, startOfDay, toInstant, toLocal } from "./local-time.ts";
import { zoneOf } from "./testing/decisions.ts";

/** Parses a wall clock as if it were UTC. */
const at = (text: string): number => {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`${text} is no instant`);
  return instant;
};

describe("toLocal", () => {
  it.each([
    ["UTC", "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001"],
    ["Europe/Berlin", "2026-03-29T00:59:59.999999Z", "2026-03-29T01:59:59.999999"],
    ["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00"],
    ["America/New_York", "2026-11-01T05:59:59Z", "2026-11-01T01:59:59"],
    ["America/New_York", "2026-11-01T06:00:00Z", "2026-11-01T01:00:00"],
    ["Australia/Lord_Howe", "2026-04-04T14:59:59Z", "2026-04-05T01:59:59"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05T01:30:00"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z", "2026-10-04T02:30:00"],
    ["America/St_Johns", "2008-11-02T02:30:59.999999Z", "2008-11-02T00:00:59.999999"],
    ["America/St_Johns", "2008-11-02T02:31:00Z", "2008-11-01T23:01:00"],
    ["Antarctica/Casey", "2022-10-01T16:00:59Z", "2022-10-02T00:00:59"],
    ["Antarctica/Casey", "2022-10-01T16:01:00Z", "2022-10-02T03:01:00"],
    ["Asia/Kathmandu", "2026-06-01T00:00:00Z", "2026-06-01T05:45:00"],
    ["Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59:59"],
    ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00"],
    ["Africa/Monrovia", "1972-01-07T00:44:29Z", "1972-01-06T23:59:59"],
    ["Africa/Monrovia", "1972-01-07T00:44:30Z", "1972-01-07T00:44:30"],
    ["Europe/Berlin", "0001-01-01T00:00:00Z", "0001-01-01T00:53:28"],
    ["America/New_York", "9999-12-31T23:59:59Z", "9999-12-31T18:59:59"],
  ])("reads the clock of %s at %s", (zone, instant, local) => {
    expect(toLocal(at(instant), zoneOf(zone))).toBe(at(local));
    // The same again, from the cache.
    expect(toLocal(at(instant), zoneOf(zone))).toBe(at(local));
  });

  it("reads more days than it caches", () => {
    const start = at("2026-07-01T00:00:00Z");
    const tokyo = zoneOf("Asia/Tokyo");
    const instants = Array.from({ length: 6000 }, (_, index) => start + index * dayLength);
    expect(instants.every((instant) => toLocal(instant, tokyo) - instant === 9 * 3_600_000_000)).toBe(true);
  });

  it("returns null for an unknown zone", () => {
    expect(openZone("Europe/Atlantis")).toBeNull();
    expect(openZone("Asia/Samarkand")).not.toBeNull();
  });
});

describe("toInstant", () => {
  it.each([
    ["Europe/Berlin", "2026-07-01T12:00:00.5", "2026-07-01T10:00:00.5Z", "2026-07-01T10:00:00.5Z"],
    ["Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00Z", "2026-03-29T01:30:00Z"],
    ["Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"],
    ["Europe/Berlin", "2026-10-25T01:59:59", "2026-10-24T23:59:59Z", "2026-10-24T23:59:59Z"],
    ["Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"],
    ["America/New_York", "2026-03-08T02:00:00", "2026-03-08T07:00:00Z", "2026-03-08T07:00:00Z"],
    ["America/New_York", "2026-11-01T01:00:00", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:45:00Z", "2026-10-03T15:45:00Z"],
    ["Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"],
    ["America/Havana", "2026-11-01T00:00:00", "2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z"],
    ["Africa/Cairo", "2026-04-24T00:00:00", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z"],
    ["Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T22:00:00Z", "2011-12-30T22:00:00Z"],
    ["Africa/Monrovia", "1972-01-07T00:10:00", "1972-01-07T00:54:30Z", "1972-01-07T00:54:30Z"],
  ])("finds when it is %s %s", (zone, local, earlier, later) => {
    expect(toInstant(at(local), zoneOf(zone), { ambiguous: "earlier" })).toBe(at(earlier));
    expect(toInstant(at(local), zoneOf(zone), { ambiguous: "later" })).toBe(at(later));
  });

  it("finds the instant of every wall clock time, all through a year", () => {
    for (const name of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"]) {
      const zone = zoneOf(name);
      for (let instant = at("2026-01-01T00:07:00Z"); instant < at("2027-01-01T00:00:00Z"); instant += 23_400_000_000) {
        const local = toLocal(instant, zone);
        const found = (["earlier", "later"] as const).map((ambiguous) => toInstant(local, zone, { ambiguous }));
        expect(found, `${name} ${local}`).toContain(instant);
      }
    }
  });
});

describe("the calendar", () => {
  it.each([
    ["2026-11-16T00:00:00", 1],
    ["2026-11-22T23:59:59.999999", 7],
    ["1970-01-01T00:00:00", 4],
    ["1969-12-31T23:59:59.999999", 3],
    ["1900-01-01T12:00:00", 1],
  ])("numbers the week day of %s", (local, weekday) => {
    expect(isoWeekday(at(local))).toBe(weekday);
    expect(isoWeekday(at(local) - 7 * dayLength)).toBe(weekday);
  });

  it("finds midnight, before 1970 too", () => {
    expect(startOfDay(at("2026-11-16T23:59:59"))).toBe(at("2026-11-16T00:00:00"));
    expect(startOfDay(at("1969-12-31T00:00:00"))).toBe(at("1969-12-31T00:00:00"));
    expect(startOfDay(at("1969-12-31T12:00:00"))).toBe(at("1969-12-31T00:00:00"));
  });
});
