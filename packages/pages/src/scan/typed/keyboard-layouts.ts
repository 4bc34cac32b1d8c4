import type { PressedKey } from "./wedge-buffer.ts";

/** The layouts that scanners are set to; they are sold with that of the US. */
export const layouts = ["us", "de", "fr"] as const;
export type Layout = (typeof layouts)[number];

/** Stands for what is no character of its own: an accent that waits for a letter. */
const nothing = "\u00b4";

const places =
  "Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal BracketLeft BracketRight Backslash Semicolon Quote Comma Period Slash Backquote IntlBackslash";

/** What each place means without Shift and with it, in the order of the places. */
const signs: Readonly<Record<Layout, string>> = {
  us: `1! 2@ 3# 4$ 5% 6^ 7& 8* 9( 0) -_ =+ [{ ]} \\| ;: '" ,< .> /? \`~ \\|`,
  de: `1! 2" 3§ 4$ 5% 6& 7/ 8( 9) 0= ß? ´´ üÜ +* #' öÖ äÄ ,; .: -_ ´° <>`,
  fr: `&1 é2 "3 '4 (5 -6 è7 _8 ç9 à0 )° =+ ´´ $£ *µ mM ù% ;. :/ !§ ²² <>`,
};

/** Letters that have not the place of the US layout: the letter there, then the one here. */
const moved: Readonly<Record<Layout, string>> = { us: "", de: "yz zy", fr: "qa aq wz zw m," };

const meanings = { us: meaningsOf("us"), de: meaningsOf("de"), fr: meaningsOf("fr") } as const;

function meaningsOf(layout: Layout): ReadonlyMap<string, readonly [plain: string, shifted: string]> {
  const found = new Map<string, readonly [string, string]>();
  for (const letter of "abcdefghijklmnopqrstuvwxyz")
    found.set(`Key${letter.toUpperCase()}`, [letter, letter.toUpperCase()]);
  for (const [place, letter] of moved[layout].split(" ").map((pair) => [...pair])) {
    if (place !== undefined && letter !== undefined)
      found.set(`Key${place.toUpperCase()}`, [letter, letter === "," ? "?" : letter.toUpperCase()]);
  }
  const pairs = signs[layout].split(" ");
  for (const [index, place] of places.split(" ").entries()) {
    const [plain = nothing, shifted = nothing] = pairs[index] ?? "";
    found.set(place, [plain, shifted]);
  }
  return found;
}

/** What the keys mean on this device. */
export function readTyped(keys: readonly PressedKey[]): string {
  return keys.map(({ key }) => ([...key].length === 1 ? key : nothing)).join("");
}

/** What a scanner of a layout meant by the keys; undefined: they have no places. */
export function readAs(layout: Layout, keys: readonly PressedKey[]): string | undefined {
  const read = keys.map((pressed) => meaningOf(layout, pressed));
  return read.every((character) => character !== undefined) ? read.join("") : undefined;
}

function meaningOf(layout: Layout, { key, code, shift }: PressedKey): string | undefined {
  // They are the same everywhere.
  if (code === "Space" || code.startsWith("Numpad")) return key;
  return meanings[layout].get(code)?.[shift ? 1 : 0];
}

/** The layout of this device, as far as the keys tell; undefined: another one, or they fit several. */
export function layoutHere(keys: readonly PressedKey[]): Layout | undefined {
  const fits = layouts.filter((layout) =>
    keys.every((pressed) => {
      const { key } = pressed;
      const meaning = meaningOf(layout, pressed);
      // Caps Lock is another matter.
      return meaning === nothing || [...key].length !== 1 || meaning?.toLowerCase() === key.toLowerCase();
    }),
  );
  return fits.length === 1 ? fits[0] : undefined;
}
