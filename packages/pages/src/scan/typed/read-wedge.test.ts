import { describe, expect, it } from "vitest";
import { readWedge } from "./read-wedge.ts";
import type { PressedKey } from "./wedge-buffer.ts";

/** Keys as browsers report them: the place, with `+` before it for Shift, then what it means on the device. */
function keysOf(sequence: string): PressedKey[] {
  return sequence.split(" ").map((pressed) => {
    const [, shift = "", code = "", key = ""] = /^(\+?)(\w+):(.+)$/.exec(pressed) ?? [];
    return { key, code, shift: shift === "+" };
  });
}

const sequences = {
  "z3fs/Jy=, by a US scanner on a US device": "KeyZ:z Digit3:3 KeyF:f KeyS:s Slash:/ +KeyJ:J KeyY:y Equal:=",
  "z3fs/Jy=, by a US scanner on a German device": "KeyZ:y Digit3:3 KeyF:f KeyS:s Slash:- +KeyJ:J KeyY:z Equal:Dead",
  "z3fs/Jy=, by a US scanner on a French device": 'KeyZ:w Digit3:" KeyF:f KeyS:s Slash:! +KeyJ:J KeyY:y Equal:=',
  "z3fs/Jy=, by a US scanner on a French Mac": 'KeyZ:w Digit3:" KeyF:f KeyS:s Slash:= +KeyJ:J KeyY:y Equal:-',
  "z3fs/Jy=, by a German scanner on a German device":
    "KeyY:z Digit3:3 KeyF:f KeyS:s +Digit7:/ +KeyJ:J KeyZ:y +Digit0:=",
  "z3fs/Jy=, by a French scanner on a French device": "KeyW:z +Digit3:3 KeyF:f KeyS:s +Period:/ +KeyJ:J KeyY:y Equal:=",
  "z3fs/Jy=, by a German scanner on a US device": "KeyY:y Digit3:3 KeyF:f KeyS:s +Digit7:& +KeyJ:J KeyZ:z +Digit0:)",
  "kz8m2qa7, by a US scanner on a German device": "KeyK:k KeyZ:y Digit8:8 KeyM:m Digit2:2 KeyQ:q KeyA:a Digit7:7",
  "kz8m2qa7, by a US scanner on a French device": "KeyK:k KeyZ:w Digit8:_ KeyM:, Digit2:é KeyQ:a KeyA:q Digit7:è",
  "kz8m2qa7, by a German scanner on a German device": "KeyK:k KeyY:z Digit8:8 KeyM:m Digit2:2 KeyQ:q KeyA:a Digit7:7",
  "kz8m2qa7, by a French scanner on a US device":
    "KeyK:k KeyW:w +Digit8:* Semicolon:; +Digit2:@ KeyA:a KeyQ:q +Digit7:&",
  "kz8m2qa7, by a scanner on a US device with Caps Lock":
    "KeyK:K KeyZ:Z Digit8:8 KeyM:M Digit2:2 KeyQ:Q KeyA:A Digit7:7",
  "]Q3kz8, by a US scanner on a German device": "BracketRight:+ +KeyQ:Q Digit3:3 KeyK:k KeyZ:y Digit8:8",
  "]Q3kz8, by a US scanner on a French device": 'BracketRight:$ +KeyQ:A Digit3:" KeyK:k KeyZ:w Digit8:_',
  "https://x.de/y-1, by a US scanner on a German device":
    "KeyH:h KeyT:t KeyT:t KeyP:p KeyS:s +Semicolon:Ö Slash:- Slash:- KeyX:x Period:. KeyD:d KeyE:e Slash:- KeyY:z Minus:ß Digit1:1",
  "joe@x.de, by a US scanner on a US device": "KeyJ:j KeyO:o KeyE:e +Digit2:@ KeyX:x Period:. KeyD:d KeyE:e",
} as const;

type Sequence = keyof typeof sequences;

describe("[G3.6] a scanner of another keyboard layout", () => {
  it.each<[Sequence, string, string | undefined, string | undefined]>([
    ["z3fs/Jy=, by a US scanner on a US device", "z3fs/Jy=", undefined, undefined],
    ["z3fs/Jy=, by a US scanner on a German device", "z3fs/Jy=", "us", "y3fs-Jz´"],
    ["z3fs/Jy=, by a US scanner on a French device", 'w"fs!Jy=', undefined, "z3fs/Jy="],
    ["z3fs/Jy=, by a US scanner on a French Mac", 'w"fs=Jy-', undefined, "z3fs/Jy="],
    ["z3fs/Jy=, by a German scanner on a German device", "z3fs/Jy=", undefined, undefined],
    ["z3fs/Jy=, by a French scanner on a French device", "z3fs/Jy=", undefined, undefined],
    ["z3fs/Jy=, by a German scanner on a US device", "y3fs&Jz)", undefined, "z3fs/Jy="],
    ["kz8m2qa7, by a US scanner on a German device", "ky8m2qa7", undefined, "kz8m2qa7"],
    ["kz8m2qa7, by a US scanner on a French device", "kz8m2qa7", "us", "ky8m2qa7"],
    ["kz8m2qa7, by a German scanner on a German device", "kz8m2qa7", undefined, "ky8m2qa7"],
    ["kz8m2qa7, by a French scanner on a US device", "kw*;@aq&", undefined, "kz8m2qa7"],
    ["kz8m2qa7, by a scanner on a US device with Caps Lock", "KZ8M2QA7", undefined, "kz8m2qa7"],
    ["]Q3kz8, by a US scanner on a German device", "]Q3kz8", "us", "+Q3ky8"],
    ["]Q3kz8, by a US scanner on a French device", "]Q3kz8", "us", '$A"kw_'],
    ["https://x.de/y-1, by a US scanner on a German device", "https://x.de/y-1", "us", "httpsÖ--x.de-zß1"],
    ["joe@x.de, by a US scanner on a US device", "joe@x.de", undefined, "joe2x:de"],
  ])("that types %s is read as %j first", (name, code, layout, other) => {
    const read = readWedge(keysOf(sequences[name]), undefined);
    expect([read.code, read.layout, read.other?.code]).toEqual([code, layout, other]);
  });

  it.each<[Sequence, "us" | "de" | "fr"]>([
    ["kz8m2qa7, by a US scanner on a German device", "us"],
    ["z3fs/Jy=, by a US scanner on a French device", "us"],
    ["z3fs/Jy=, by a US scanner on a French Mac", "us"],
    ["z3fs/Jy=, by a German scanner on a US device", "de"],
    ["kz8m2qa7, by a French scanner on a US device", "fr"],
    ["kz8m2qa7, by a scanner on a US device with Caps Lock", "us"],
    ["]Q3kz8, by a US scanner on a French device", "us"],
  ])("that types %s is read rightly at once when it is known to be %s", (name, layout) => {
    const read = readWedge(keysOf(sequences[name]), layout);
    expect([read.code, read.layout]).toEqual([name.split(",")[0], layout]);
  });

  it.each<[Sequence, string | undefined]>([
    ["kz8m2qa7, by a US scanner on a German device", "de"],
    ["kz8m2qa7, by a US scanner on a French device", "fr"],
    ["kz8m2qa7, by a scanner on a US device with Caps Lock", "us"],
    ["z3fs/Jy=, by a US scanner on a French Mac", undefined],
  ])("shows by %s what layout the device has: %s", (name, here) => {
    expect(readWedge(keysOf(sequences[name]), undefined).here).toBe(here);
  });

  it("is read as it is typed where the keys have no places, as those of a keyboard on the screen", () => {
    const keys = [..."kz8§"].map((key) => ({ key, code: "", shift: false }));
    expect(readWedge(keys, "us")).toEqual({ code: "kz8§", here: undefined });
  });
});
