import { expect, it } from "vitest";
import { formatLocalMinute } from "./local-minute.ts";

it.each([
  [Date.UTC(2026, 5, 1, 22, 5), "Europe/Berlin", "2026-06-02 00:05"],
  [Date.UTC(2026, 11, 31, 23, 59), "UTC", "2026-12-31 23:59"],
  [Date.UTC(2026, 0, 1, 0, 0), "America/New_York", "2025-12-31 19:00"],
  [Date.UTC(2026, 0, 1, 0, 0), "Asia/Kathmandu", "2026-01-01 05:45"],
])("writes %i in %s as %s", (ms, zone, expected) => {
  expect(formatLocalMinute(ms * 1000 + 999_999, zone)).toBe(expected);
});
