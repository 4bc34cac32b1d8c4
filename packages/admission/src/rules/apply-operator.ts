import { earliest, latest } from "../local-time.ts";
import {
  failed,
  isLess,
  isMoment,
  isSame,
  isTruthy,
  looksEqual,
  type Outcome,
  toNumber,
  type Value,
} from "./rule-values.ts";
import type { DecidingOperator } from "./rule-words.ts";

/** Operators whose result depends on their operands alone. */
export type PlainOperator = DecidingOperator | "objectList" | "lookup";

/** The number of operands of each operator; with any other number the operation fails. */
const operandCounts: Readonly<Record<PlainOperator, readonly [number, number]>> = {
  and: [0, Infinity],
  or: [0, Infinity],
  "<": [2, Infinity],
  "<=": [2, Infinity],
  ">": [2, 2],
  ">=": [2, 2],
  "==": [2, 2],
  "!=": [2, 2],
  inList: [2, 2],
  isBefore: [2, 3],
  isAfter: [2, 3],
  objectList: [0, Infinity],
  lookup: [2, 3],
};

const minute = 60_000_000;

/** Applies an operator to evaluated operands. */
export function applyOperator(operator: PlainOperator, operands: readonly Value[]): Outcome {
  const [fewest, most] = operandCounts[operator];
  if (operands.length < fewest || operands.length > most) return failed;
  const a = operands[0] ?? null;
  const b = operands[1] ?? null;
  switch (operator) {
    case "and":
      return operands.reduce<Value>((soFar, next) => (isTruthy(soFar) ? next : soFar), true);
    case "or":
      return operands.reduce<Value>((soFar, next) => (isTruthy(soFar) ? soFar : next), false);
    case "<":
      return holdsAlong(operands, isLess);
    case "<=":
      return holdsAlong(operands, isAtMost);
    case ">":
      return isLess(b, a);
    case ">=":
      return isAtMost(b, a);
    case "==":
      return looksEqual(a, b);
    case "!=":
      return !looksEqual(a, b);
    case "inList":
      return Array.isArray(b) ? (b as readonly Value[]).some((element) => isSame(a, element)) : failed;
    case "isBefore":
      return isLessMoment(a, shift(b, operands[2] ?? null));
    case "isAfter":
      return isLessMoment(b, shift(a, operands[2] ?? null));
    case "objectList":
      return operands;
    case "lookup":
      return toId(b);
  }
}

/** Moves a moment by a number of minutes; null and empty values count as 0. */
export function shift(moment: Value, minutes: Value): Outcome {
  if (!isMoment(moment)) return failed;
  if (!isTruthy(minutes)) return moment;
  const by = toNumber(minutes);
  if (by === undefined) return failed;
  const at = moment.at + Math.round(by * minute);
  return at >= earliest && at <= latest ? { at } : failed;
}

function isLessMoment(a: Outcome, b: Outcome): Outcome {
  return isMoment(a) && isMoment(b) ? a.at < b.at : failed;
}

function isAtMost(a: Value, b: Value): boolean | typeof failed {
  const less = isLess(a, b);
  return less === failed ? failed : less || looksEqual(a, b);
}

/** With three operands, tests whether the middle one lies between the others. */
function holdsAlong(operands: readonly Value[], holds: (a: Value, b: Value) => boolean | typeof failed): Outcome {
  for (let index = 1; index < operands.length; index += 1) {
    const result = holds(operands[index - 1] ?? null, operands[index] ?? null);
    if (result !== true) return result;
  }
  return true;
}

function toId(id: Value): Outcome {
  if (typeof id === "number") return Number.isFinite(id) ? Math.trunc(id) : failed;
  if (typeof id === "string" && /^\s*[+-]?\d+\s*$/.test(id)) return Number(id);
  return failed;
}
