import { describe, expect, it } from "vitest";
import { makeTexts } from "./random-text.ts";

describe("makeTexts", () => {
  it("makes a text of as many bytes as it has characters, and none of fewer", () => {
    expect(makeTexts(Uint8Array.of(0, 1, 2, 3, 4), { alphabet: "abc", length: 2 })).toEqual(["ab", "ca"]);
    expect(makeTexts(Uint8Array.of(0), { alphabet: "abc", length: 2 })).toEqual([]);
  });

  it("leaves out bytes that would make some characters more frequent", () => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    for (const alphabet of ["abc", "ABCDEFGHJKLMNPQRSTUVWXYZ379", "0123456789abcdefghijklmnopqrstuvwxyz"]) {
      const counts = Map.groupBy(makeTexts(every, { alphabet, length: 1 }), (character) => character);
      expect(counts.size).toBe(alphabet.length);
      expect(new Set([...counts.values()].map(({ length }) => length)).size).toBe(1);
    }
  });
});
