import { describe, expect, it } from "vitest";
import { isSlug, maxImportedId } from "./code.ts";

describe("isSlug", () => {
  it.each(["a", "0", "demo", "Demo-2024", "a.b_c-d", "a".repeat(50)])("accepts %s", (text) => {
    expect(isSlug(text)).toBe(true);
  });

  it.each(["", " ", "-a", ".a", "..", "_a", "a b", "a/b", "a\n", "é", "a".repeat(51), "a\0"])("refuses %j", (text) => {
    expect(isSlug(text)).toBe(false);
  });
});

describe("maxImportedId", () => {
  it("leaves exact numbers above it", () => {
    expect(Number.isSafeInteger(maxImportedId * 7)).toBe(true);
  });
});
