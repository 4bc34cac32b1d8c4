import { describe, expect, it } from "vitest";
import { isExpired, usagesLeft } from "./voucher.ts";

describe("isExpired", () => {
  it.each([
    ["never without an end", null, false],
    ["not before its end", 101, false],
    ["at its end", 100, true],
    ["after its end", 99, true],
  ])("%s", (_name, validUntil, expected) => {
    expect(isExpired({ validUntil }, 100)).toBe(expected);
  });
});

describe("usagesLeft", () => {
  it("counts what is left, and nothing of a voucher that was redeemed too often", () => {
    expect(usagesLeft({ maxUsages: 5, redeemed: 2 })).toBe(3);
    expect(usagesLeft({ maxUsages: 2, redeemed: 2 })).toBe(0);
    expect(usagesLeft({ maxUsages: 1, redeemed: 2 })).toBe(0);
  });
});
