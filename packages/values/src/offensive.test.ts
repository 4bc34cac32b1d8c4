import { describe, expect, it } from "vitest";
import { isOffensive } from "./offensive.ts";

describe("isOffensive", () => {
  it.each(["FUCK", "ARSCH", "SLUT", "5LUT", "A55", "TW4T", "F4B", "XFUCKX"])("finds the word in %s", (code) => {
    expect(isOffensive(code)).toBe(true);
  });

  it.each(["ABCDE", "23456", "A0BCD", ""])("finds none in %j", (code) => {
    expect(isOffensive(code)).toBe(false);
  });
});
