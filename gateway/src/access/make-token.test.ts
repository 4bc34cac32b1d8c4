import { describe, expect, it } from "vitest";
import { deriveToken, makeToken } from "./make-token.ts";

const shape = /^[a-z0-9]{64}$/;

/** Whether 300 tokens have every character equally often: 533 times on average; chance stays far within 150. */
function isEven(tokens: readonly string[]): boolean {
  const counts = Map.groupBy(tokens.join(""), (character) => character);
  return counts.size === 36 && counts.values().every(({ length }) => Math.abs(length - 533) < 150);
}

describe("a token", () => {
  it("[S2.5] has the shape that clients know, and is never the same", () => {
    const tokens = Array.from({ length: 100 }, makeToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(shape);
  });

  it("has every character equally often", () => {
    expect(isEven(Array.from({ length: 300 }, makeToken))).toBe(true);
  });

  it("of a request is the same for its repetition, and for no other request or secret", () => {
    const tokens = Array.from({ length: 300 }, (_, index) => deriveToken("secret", `request ${index}`));
    expect(deriveToken("secret", "request 7")).toBe(tokens[7]);
    expect(new Set([...tokens, deriveToken("another", "request 7")]).size).toBe(301);
    for (const token of tokens) expect(token).toMatch(shape);
    expect(isEven(tokens)).toBe(true);
  });
});
