import type { Limits } from "./question.ts";

interface Decimal {
  readonly negative: boolean;
  /** Digits before and behind the point; of those before it none is a needless zero. */
  readonly whole: string;
  readonly behind: string;
}

/** Longer ones are hostile, or a scan that went into the wrong field. */
const mostCharacters = 100;

/**
 * Reads a decimal as it was typed, with a point or with the separator of the language, and writes it with a point.
 *
 * Nothing is rounded: zeros at the end stay, and limits are compared digit by digit.
 */
export function readNumber(typed: string, separator: string, limits: Limits<string>): string | undefined {
  const text = typed.trim();
  if (text.length > mostCharacters) return undefined;
  const decimal = parse(text) ?? parse(text.replace(separator, "."));
  if (decimal === undefined || exceeds(decimal, limits)) return undefined;
  const written = write(decimal);
  return written.length > mostCharacters ? undefined : written;
}

function parse(text: string): Decimal | undefined {
  const match = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, before = "", after = "", power = "0"] = match;
  const exponent = Number(power);
  const point = before.length + exponent;
  const digits = "0".repeat(Math.max(0, -point)) + before + after;
  const from = Math.max(0, point);
  const whole = digits.slice(0, from).padEnd(from, "0").replace(/^0+/, "") || "0";
  const behind = digits.slice(from);
  return { negative: sign === "-" && /[1-9]/.test(digits), whole, behind };
}

function exceeds(decimal: Decimal, { least, most }: Limits<string>): boolean {
  return (least !== null && compare(decimal, limit(least)) < 0) || (most !== null && compare(decimal, limit(most)) > 0);
}

function limit(text: string): Decimal {
  const decimal = parse(text);
  if (decimal === undefined) throw new RangeError(`${text} is no limit for numbers`);
  return decimal;
}

function compare(a: Decimal, b: Decimal): number {
  const places = Math.max(a.behind.length, b.behind.length);
  const [left, right] = [scale(a, places), scale(b, places)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function scale({ negative, whole, behind }: Decimal, places: number): bigint {
  const value = BigInt(whole + behind.padEnd(places, "0"));
  return negative ? -value : value;
}

function write({ negative, whole, behind }: Decimal): string {
  return `${negative ? "-" : ""}${whole}${behind === "" ? "" : `.${behind}`}`;
}
