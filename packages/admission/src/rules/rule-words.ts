/** Operators with a boolean result; only these may be at the top. */
const decidingOperators = ["and", "or", "<", "<=", ">", ">=", "==", "!=", "inList", "isBefore", "isAfter"] as const;

/** Operators that count entries before or since a time. */
const countingOperators = ["entries_since", "entries_before", "entries_days_since", "entries_days_before"] as const;

const variables = [
  "product",
  "variation",
  "gate",
  "now",
  "now_isoweekday",
  "entry_status",
  "entries_number",
  "entries_today",
  "entries_days",
  "minutes_since_last_entry",
  "minutes_since_first_entry",
] as const;

export type DecidingOperator = (typeof decidingOperators)[number];
export type CountingOperator = (typeof countingOperators)[number];
export type Variable = (typeof variables)[number];

const deciding: ReadonlySet<string> = new Set(decidingOperators);
const counting: ReadonlySet<string> = new Set(countingOperators);
const known: ReadonlySet<string> = new Set(variables);

export function isDeciding(word: string): word is DecidingOperator {
  return deciding.has(word);
}

export function isCounting(word: string): word is CountingOperator {
  return counting.has(word);
}

/** Returns whether this operator may be an operand of another one. */
export function isOperator(word: string): boolean {
  return isDeciding(word) || isCounting(word) || ["buildTime", "objectList", "lookup", "var"].includes(word);
}

export function isVariable(word: unknown): word is Variable {
  return typeof word === "string" && known.has(word);
}

/** Returns the operands of an operation: a single value counts as a list of one. */
export function operandsOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? (given as unknown[]) : [given];
}
