import Big from "big.js";
import type { Limits } from "./question.ts";

/** A longer text is hostile, or a scan that went into the wrong field. */
const mostCharacters = 100;

/**
 * Reads a decimal as it was typed, with a point or the separator of the language, and writes it with a point.
 *
 * Nothing is rounded, and trailing zeros stay.
 */
export function readNumber(typed: string, separator: string, { least, most }: Limits<string>): string | undefined {
  const text = typed.trim();
  if (text.length > mostCharacters) return undefined;
  const decimal = parse(text) ?? parse(text.replace(separator, "."));
  if (decimal === undefined) return undefined;
  const { value, places } = decimal;
  if ((least !== null && value.lt(least)) || (most !== null && value.gt(most))) return undefined;
  const written = value.toFixed(places);
  return written.length > mostCharacters ? undefined : written;
}

function parse(text: string): { readonly value: Big; readonly places: number } | undefined {
  const match = /^(?:\+|(-))?((?=\.?\d)\d*(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?)$/.exec(text);
  if (match === null) return undefined;
  const [, minus = "", number = "", behind = "", power = "0"] = match;
  return { value: new Big(minus + number), places: Math.max(0, behind.length - Number(power)) };
}
