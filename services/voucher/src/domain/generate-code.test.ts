import { assert, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { generateCodes } from "./generate-code.ts";
import { findCodeProblem, normalizeCode } from "./normalize-code.ts";

const alphabet = "ABCDEFGHKLMNPQRSTUVWXYZ23456789";

/** Bytes that give this text. */
const bytesOf = (text: string) => Uint8Array.from(text, (character) => alphabet.indexOf(character));

describe("generateCodes", () => {
  it("makes a code of sixteen bytes, and of each sixteen more another", () => {
    const code = "ABCDEFGHKLMNPQRS";
    expect(generateCodes(bytesOf(code))).toEqual([code]);
    expect(generateCodes(bytesOf(`${code}222666999222666`))).toEqual([code]);
    expect(generateCodes(bytesOf(`${code}2226669992226667`))).toEqual([code, "2226669992226667"]);
    expect(generateCodes(new Uint8Array())).toEqual([]);
  });

  it("[V11.1] leaves out bytes that would make some characters more frequent", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte += 1) {
      // Digits at the end, so that no offensive word can occur.
      const [code] = generateCodes(Uint8Array.from([byte, ...bytesOf("222999222999222")]));
      if (code !== undefined) counts.set(code.charAt(0), (counts.get(code.charAt(0)) ?? 0) + 1);
    }
    expect([...counts.keys()].sort().join("")).toBe([...alphabet].sort().join(""));
    expect(new Set(counts.values())).toEqual(new Set([8]));
  });

  it.each(["FUCK", "ARSCH", "SLUT", "5LUT", "A55", "TW4T", "F4B"])(
    "[V11.2] leaves out a code with %s in it",
    (word) => {
      for (let at = 0; at + word.length <= 16; at += 1) {
        const code = "2".repeat(at) + word + "9".repeat(16 - at - word.length);
        expect(generateCodes(bytesOf(`${code}ABCDEFGHKLMNPQRS`)), code).toEqual(["ABCDEFGHKLMNPQRS"]);
      }
    },
  );

  it("[V11.1, V11.3] makes codes that are as they are stored", () => {
    assert(
      property(uint8Array({ minLength: 0, maxLength: 400 }), (bytes) => {
        for (const code of generateCodes(bytes)) {
          expect(code).toMatch(/^[A-HK-NP-Z2-9]{16}$/);
          expect(normalizeCode(code)).toBe(code);
          expect(findCodeProblem(code)).toBeUndefined();
        }
      }),
    );
  });

  it("keeps most codes", () => {
    let seed = 42;
    const bytes = Uint8Array.from({ length: 64_000 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed >>> 16;
    });
    expect(generateCodes(bytes).length).toBeGreaterThan(3500);
  });
});
