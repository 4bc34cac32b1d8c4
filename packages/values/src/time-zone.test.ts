import { describe, expect, it } from "vitest";
import { isTimeZone } from "./time-zone.ts";

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
