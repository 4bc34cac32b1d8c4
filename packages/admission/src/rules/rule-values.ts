/** A point in time. It compares with other points in time alone, never with numbers. */
export interface Moment {
  readonly at: number;
}

/** An object inside a list that is not an operation; equal to nothing. */
export const inert = Symbol("inert");

/** The result of an operation that cannot be carried out. */
export const failed = Symbol("failed");

export type Value = null | boolean | number | string | Moment | typeof inert | readonly Value[];
export type Outcome = Value | typeof failed;

export function isMoment(value: Outcome): value is Moment {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a value counts as true: everything but false, null, 0 and empty texts and lists. */
export function isTruthy(value: Value): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Compares as `==` does: as texts if one is a text, as booleans if one is a boolean, otherwise by value. */
export function looksEqual(a: Value, b: Value): boolean {
  if (typeof a === "string" || typeof b === "string") return toText(a) === toText(b);
  if (typeof a === "boolean" || typeof b === "boolean") return isTruthy(a) === isTruthy(b);
  return isSame(a, b);
}

/** Compares as `inList` does: a number never equals its text; true is 1 and false 0. */
export function isSame(a: Value, b: Value): boolean {
  if (a === inert || b === inert) return false;
  if (isMoment(a) || isMoment(b)) return isMoment(a) && isMoment(b) && a.at === b.at;
  if (Array.isArray(a) || Array.isArray(b)) return haveSame(a, b);
  return (typeof a === "boolean" ? Number(a) : a) === (typeof b === "boolean" ? Number(b) : b);
}

function haveSame(a: Value, b: Value): boolean {
  if (!(Array.isArray(a) && Array.isArray(b)) || a.length !== b.length) return false;
  return (a as readonly Value[]).every((element, index) => isSame(element, (b as readonly Value[])[index] ?? null));
}

/**
 * Returns whether one value is less than the other: as numbers, where one of them is a number (NaN is neither less nor
 * more), otherwise as two texts, two moments or two booleans.
 */
export function isLess(a: Value, b: Value): boolean | typeof failed {
  if (typeof a === "number" || typeof b === "number") {
    const left = toNumber(a);
    const right = toNumber(b);
    return left !== undefined && right !== undefined && left < right;
  }
  if (typeof a === "string" && typeof b === "string") return a < b;
  if (typeof a === "boolean" && typeof b === "boolean") return !a && b;
  if (isMoment(a) && isMoment(b)) return a.at < b.at;
  return failed;
}

/** Converts a number, a numeric text or a boolean (1 and 0) to a number. */
export function toNumber(value: Value): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  // The pattern cannot backtrack, so a long text takes linear time.
  if (typeof value !== "string" || !/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(value)) return undefined;
  return Number(value);
}

/** Existing rules were written for exactly these texts. */
function toText(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  if (value === inert) return "an object";
  if (typeof value === "number") return String(value);
  return isMoment(value) ? `at ${value.at}` : `[${value.map(toText).join(", ")}]`;
}
