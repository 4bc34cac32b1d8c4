import { describe, expect, it } from "vitest";
import { formatHttpDate, parseHttpDate } from "./date.ts";

describe("dates of HTTP", () => {
  it("are read as they are written", () => {
    const instant = Date.UTC(2026, 1, 28, 23, 59, 59) * 1000;
    expect(formatHttpDate(instant)).toBe("Sat, 28 Feb 2026 23:59:59 GMT");
    expect(parseHttpDate(formatHttpDate(instant))).toBe(instant);
    expect(formatHttpDate(instant + 999_999)).toBe(formatHttpDate(instant));
  });

  it.each([
    "",
    "Sat Feb 28 23:59:59 UTC 2026",
    "2026-02-28T23:59:59Z",
    "Sat, 28 Feb 2026 23:59:59 CET",
    "Sat, 28 Feb 2026 25:59:59 GMT",
    "Sat, 99 Feb 2026 23:59:59 GMT",
    "0",
  ])("in any other form are not read: %j", (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
