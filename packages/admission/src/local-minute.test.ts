import { parseInstant } from "@tessera/values";
import { expect, it } from "vitest";
import { formatLocalMinute } from "./local-minute.ts";
import { readers } from "./testing/decisions.ts";

it.each([
  [Date.UTC(2026, 5, 1, 22, 5), "Europe/Berlin", "2026-06-02 00:05"],
  [Date.UTC(2026, 11, 31, 23, 59), "UTC", "2026-12-31 23:59"],
  [Date.UTC(2026, 0, 1, 0, 0), "America/New_York", "2025-12-31 19:00"],
  [Date.UTC(2026, 0, 1, 0, 0), "Asia/Kathmandu", "2026-01-01 05:45"],
])("writes %i in %s as %s", (ms, zone, expected) => {
  expect(formatLocalMinute(ms * 1000 + 999_999, readers.zone(zone))).toBe(expected);
});

it.each([
  ["9999-12-31T23:59:59Z", "Europe/Berlin", "9999-12-31 23:59"],
  ["9999-12-31T23:59:59Z", "America/New_York", "9999-12-31 18:59"],
  ["0001-01-01T00:00:00Z", "America/New_York", "0001-01-01 00:00"],
  ["0001-01-01T00:00:00Z", "Europe/Berlin", "0001-01-01 00:53"],
])("stays within the years 1 to 9999: %s in %s is %s", (text, zone, expected) => {
  expect(formatLocalMinute(parseInstant(text) ?? Number.NaN, readers.zone(zone))).toBe(expected);
});

it.each(["Europe/Atlantis", "Europe Berlin", "", "\0"])(
  "[C4.33] tells the time of the zone %j, which is none, in UTC",
  (zone) => {
    expect(formatLocalMinute(Date.UTC(2026, 5, 1, 22, 5) * 1000, readers.zone(zone))).toBe("2026-06-01 22:05");
  },
);
