import Big from "big.js";

/** The limits of a decimal: at most `digits` digits, and at most `places` of them behind the point. */
export interface DecimalLimits {
  readonly digits: number;
  readonly places: number;
  /** The places that are always written; without it all are. */
  readonly shown?: number | undefined;
}

/** Why a value is not a decimal within its limits. */
export type DecimalProblem = "not_a_number" | "too_many_digits" | "too_many_places" | "too_many_whole_digits";

/**
 * Reads a decimal and writes it with exactly the given places: `" 1e1 "` becomes `"10.00"`. With `shown` it has that many, and
 * more only where they are needed.
 *
 * Digits are never removed by rounding, not even zeros: the point of `"12.000"` may be a thousands separator.
 */
export function parseDecimal(value: unknown, limits: DecimalLimits): string | undefined {
  const decimal = readDecimal(value);
  if (decimal === undefined || exceeds(decimal, limits) !== undefined) return undefined;
  const { digits, exponent } = decimal;
  const number = new Big(`${decimal.sign}${digits || "0"}e${exponent}`);
  const places = limits.shown === undefined ? limits.places : Math.max(limits.shown, placesOf(number));
  return withoutNegativeZero(number.toFixed(places));
}

function placesOf({ c: digits, e: exponent }: Big): number {
  return Math.max(0, digits.length - exponent - 1);
}

/** The reason why `parseDecimal` refuses a value. */
export function findDecimalProblem(value: unknown, limits: DecimalLimits): DecimalProblem | undefined {
  const decimal = readDecimal(value);
  return decimal === undefined ? "not_a_number" : exceeds(decimal, limits);
}

interface Decimal {
  readonly sign: string;
  /** Without leading zeros. */
  readonly digits: string;
  readonly exponent: number;
}

/** Longer texts are attacks: the largest amount has 13 digits. */
const longest = 100;

/** Reads the parts without arithmetic, so that `1e999999999` costs nothing. */
function readDecimal(value: unknown): Decimal | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const text = String(value).trim();
  if (text.length > longest) return undefined;
  const match = /^([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", behind = "", exponent = "0"] = match;
  return {
    sign: sign === "-" ? "-" : "",
    digits: (whole + behind).replace(/^0+/, ""),
    exponent: Number(exponent) - behind.length,
  };
}

function exceeds({ digits, exponent }: Decimal, limits: DecimalLimits): DecimalProblem | undefined {
  const places = Math.max(0, -exponent);
  const wholeDigits = Math.max(0, digits.length + exponent);
  if (Math.max(places, places + wholeDigits) > limits.digits) return "too_many_digits";
  if (places > limits.places) return "too_many_places";
  if (wholeDigits > limits.digits - limits.places) return "too_many_whole_digits";
  return undefined;
}

function withoutNegativeZero(text: string): string {
  return text.startsWith("-") && !/[1-9]/.test(text) ? text.slice(1) : text;
}
