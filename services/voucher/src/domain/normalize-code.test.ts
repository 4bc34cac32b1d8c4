import { describe, expect, it } from "vitest";
import { findCodeProblem, normalizeCode } from "./normalize-code.ts";

describe("normalizeCode", () => {
  it.each([
    [" summer23 ", "SUMMER23"],
    ["Früh bucher", "FRÜH BUCHER"],
    ["straße", "STRASSE"],
    ["ÇILEK", "ÇILEK"],
    ["e\u0301lan1", "\u00c9LAN1"],
    ["i\u0307stanbul", "\u0130STANBUL"],
    ["\u0390\u1fb7abc", "\u03aa\u0301\u0391\u0342\u0399ABC"],
  ])("[V11.3] writes %j as %j", (sent, expected) => {
    expect(normalizeCode(sent)).toBe(expected);
    expect(normalizeCode(expected)).toBe(expected);
  });
});

describe("findCodeProblem", () => {
  it.each(["ABCDE", "A B C", "🎫🎫🎫🎫🎫", "X".repeat(255), "🎫".repeat(255)])("[V11.3, V1.1] accepts %j", (code) => {
    expect(findCodeProblem(code)).toBeUndefined();
  });

  it.each([
    ["", "blank"],
    ["ABCD", "at least 5"],
    ["🎫🎫", "at least 5"],
    ["X".repeat(256), "no more than 255"],
    [normalizeCode("ß".repeat(128)), "no more than 255"],
    ["ABC\tDE", "control characters"],
    ["ABC\nDE", "control characters"],
    ["ABC\u0000DE", "control characters"],
    ["ABC\u0085DE", "control characters"],
  ])("[V11.4, V1.1] refuses %j", (code, reason) => {
    expect(findCodeProblem(code)).toContain(reason);
  });
});
