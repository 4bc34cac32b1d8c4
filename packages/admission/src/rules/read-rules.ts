import { parseInstant } from "@tessera/values";
import { applyOperator, type PlainOperator } from "./apply-operator.ts";
import { checkRules } from "./check-rules.ts";
import { failed, inert, type Outcome, type Value } from "./rule-values.ts";
import { type CountingOperator, isCounting, isDeciding, isVariable, operandsOf, type Variable } from "./rule-words.ts";

/** The rules of a list, ready to be judged. */
export interface Rules {
  readonly root: RuleNode;
}

/** A point in time that rules may name. */
export type NamedTime =
  | { readonly kind: "custom"; readonly at: number }
  /** A time on the local day of the scan, as microseconds since midnight. */
  | { readonly kind: "customtime"; readonly time: number }
  | { readonly kind: "date_from" | "date_to" | "date_admission" };

export type RuleNode =
  | { readonly kind: "constant"; readonly value: Outcome }
  | { readonly kind: "variable"; readonly name: Variable }
  | { readonly kind: "time"; readonly time: NamedTime }
  | { readonly kind: "count"; readonly name: CountingOperator; readonly time: NamedTime }
  | { readonly kind: "operation"; readonly operator: PlainOperator; readonly operands: readonly RuleNode[] };

/**
 * Reads the stored rules of a list; null: the list has no rules.
 *
 * Rules that a list could not have been stored with can be judged too: they admit no ticket.
 */
export function readRules(json: string): Rules | null {
  if (json.trim() === "") return null;
  let rules: unknown;
  try {
    rules = JSON.parse(json);
  } catch {
    return { root: failure };
  }
  if (typeof rules !== "object" || rules === null || Array.isArray(rules)) return null;
  if (Object.keys(rules).length === 0) return null;
  return { root: checkRules(rules) === undefined ? toNode(rules) : failure };
}

const failure: RuleNode = { kind: "constant", value: failed };

function toNode(value: unknown): RuleNode {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "constant", value: toConstant(value) };
  }
  const [entry] = Object.entries(value) as [string, unknown][];
  if (entry === undefined) return failure;
  const [operator, given] = entry;
  const operands = operandsOf(given);
  if (operator === "var") {
    const [name] = operands;
    return isVariable(name) ? { kind: "variable", name } : failure;
  }
  if (operator === "buildTime") {
    const time = toTime(operands);
    return time === undefined ? failure : { kind: "time", time };
  }
  if (isCounting(operator)) {
    const node = toNode(operands[0]);
    return node.kind === "time" ? { kind: "count", name: operator, time: node.time } : failure;
  }
  if (!isDeciding(operator) && operator !== "objectList" && operator !== "lookup") return failure;
  return fold({ kind: "operation", operator, operands: operands.map(toNode) });
}

/** Constant folding. `and` and `or` are left for the explanation. */
function fold(node: RuleNode & { readonly kind: "operation" }): RuleNode {
  if (node.operator === "and" || node.operator === "or") return node;
  const values: Value[] = [];
  for (const operand of node.operands) {
    if (operand.kind !== "constant") return node;
    if (operand.value === failed) return failure;
    values.push(operand.value);
  }
  return { kind: "constant", value: applyOperator(node.operator, values) };
}

function toConstant(value: unknown): Value {
  if (Array.isArray(value)) return (value as unknown[]).map(toConstant);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return value === null ? null : inert;
}

function toTime([kind, value = null, ...more]: readonly unknown[]): NamedTime | undefined {
  if (more.length > 0) return undefined;
  switch (kind) {
    case "date_from":
    case "date_to":
    case "date_admission":
      return { kind };
    case "custom": {
      const at = typeof value === "string" ? parseInstant(value) : undefined;
      // Without an offset the moment is ambiguous. A bare date does not end in four digits.
      const isPlain = typeof value === "string" && at !== undefined && /(?:Z|[+-]\d\d:?\d\d)$/.test(value);
      return isPlain ? { kind, at } : undefined;
    }
    case "customtime": {
      const time = typeof value === "string" ? parseTime(value) : undefined;
      return time === undefined ? undefined : { kind, time };
    }
    default:
      return undefined;
  }
}

function parseTime(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?$/.exec(text);
  if (match === null) return undefined;
  const [, hour, minute, second = "0", fraction = ""] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return seconds * 1_000_000 + Number(fraction.padEnd(6, "0"));
}
