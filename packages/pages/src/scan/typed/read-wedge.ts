import { symbologyOf } from "./check-code.ts";
import { type Layout, layoutHere, layouts, readAs, readTyped } from "./keyboard-layouts.ts";
import type { PressedKey } from "./wedge-buffer.ts";

/** A code as it was typed, or as a scanner of another layout meant it. */
interface Reading {
  readonly code: string;
  /** That of the scanner; undefined: that of this device. */
  readonly layout?: Layout | undefined;
}

export interface WedgeReading extends Reading {
  /** What the keys mean if this code is unknown. */
  readonly other?: Reading | undefined;
  /** The layout of this device, as far as the keys tell. */
  readonly here: Layout | undefined;
}

/** Characters of codes, as their makers choose them. */
const ofCodes = /^(?:[\w+/=.:\- ]+|https?:\/\/[!-~]+)$/;

const isLikely = (text: string) => ofCodes.test(text.slice(symbologyOf(text).length));

/** Letters of one language, and accents without a letter, are in no code. */
const isPossible = (text: string) => /^[ -~]*$/.test(text);

/**
 * Reads the keys of a scanner that may be set to another layout than this device: the places of the keys tell what it meant.
 * Where what was typed can be a code, it is one, unless the layout of the scanner is known or a prefix shows it; the other
 * reading is for a code that turns out to be unknown.
 */
export function readWedge(keys: readonly PressedKey[], known: Layout | undefined): WedgeReading {
  const typed: Reading = { code: readTyped(keys) };
  const here = layoutHere(keys);
  const meant: Reading[] = [];
  for (const layout of known === undefined ? layouts : [known, ...layouts]) {
    const code = readAs(layout, keys);
    const isNew = code !== typed.code && meant.every((each) => each.code !== code);
    if (code !== undefined && isNew && isLikely(code)) meant.push({ code, layout });
  }
  if (!isPossible(typed.code)) {
    const [first, second = typed] = meant;
    return first === undefined ? { ...typed, here } : { ...first, other: second, here };
  }
  const other = isLikely(typed.code) ? meant.find(({ layout }) => layout === (known ?? "us")) : meant[0];
  if (other === undefined) return { ...typed, here };
  const isKnown = other.layout === known || (symbologyOf(other.code) !== "" && symbologyOf(typed.code) === "");
  return isKnown ? { ...other, other: typed, here } : { ...typed, other, here };
}
