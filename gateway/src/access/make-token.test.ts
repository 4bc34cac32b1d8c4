import { describe, expect, it } from "vitest";
import { deriveToken, makeToken } from "./make-token.ts";

const shape = /^[a-z0-9]{64}$/;

describe("a token", () => {
  it("[S2.5] has the shape that clients know, and is never the same", () => {
    const tokens = Array.from({ length: 100 }, makeToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(shape);
  });

  it("of a request is the same for its repetition, and for no other request or secret", () => {
    const tokens = Array.from({ length: 300 }, (_, index) => deriveToken("secret", `request ${index}`));
    expect(deriveToken("secret", "request 7")).toBe(tokens[7]);
    expect(new Set([...tokens, deriveToken("another", "request 7")]).size).toBe(301);
    for (const token of tokens) expect(token).toMatch(shape);
    const counts = Map.groupBy(tokens.join(""), (character) => character);
    // 533 on average; chance alone stays far within.
    for (const { length } of counts.values()) expect(Math.abs(length - 533)).toBeLessThan(150);
    expect(counts.size).toBe(36);
  });
});
