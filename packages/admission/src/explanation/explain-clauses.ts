import { formatInstant } from "@tessera/values";
import { earliest, latest } from "../local-time.ts";
import { describeFailure } from "../rules/describe-failure.ts";
import { evaluate, type RuleFacts, type Situation, toSituation } from "../rules/evaluate-rule.ts";
import { type RuleNode, readRules } from "../rules/read-rules.ts";
import { failed, isMoment, isTruthy, type Outcome } from "../rules/rule-values.ts";
import { operandsOf } from "../rules/rule-words.ts";
import type { Wording } from "../wording/wording.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A comparison in the rules of a list, with what it came to. */
export interface Clause {
  /** Where it is in the rules: `and[0].or[1]`; empty: it is all of them. */
  readonly path: string;
  readonly rule: unknown;
  /** Null: it cannot be evaluated. */
  readonly passed: boolean | null;
  /** What was compared, and with what. */
  readonly value: Json;
  readonly wanted: Json;
  /** How far the value is from passing, rounded up: seconds of a time, minutes, or a number. Null: it passes, or there is no distance. */
  readonly lacks: number | null;
  readonly text: string | null;
}

/** An explanation that a person reads. */
const mostClauses = 100;

/** Evaluates each comparison of rules by itself; `rules` is what their JSON holds. */
export function explainClauses(rules: unknown, facts: RuleFacts, wording: Wording): Clause[] {
  const situation = toSituation(facts);
  return leavesOf(rules, "")
    .slice(0, mostClauses)
    .map(({ path, rule }) => ({ path, rule, ...explainClause(rule, situation, wording) }));
}

interface Leaf {
  readonly path: string;
  readonly rule: unknown;
}

function leavesOf(rule: unknown, path: string): Leaf[] {
  if (typeof rule !== "object" || rule === null) return [{ path, rule }];
  const [[operator, given] = ["", null]] = Object.entries(rule);
  if (operator !== "and" && operator !== "or") return [{ path, rule }];
  const before = path === "" ? "" : `${path}.`;
  return operandsOf(given).flatMap((operand, index) => leavesOf(operand, `${before}${operator}[${index}]`));
}

function explainClause(rule: unknown, situation: Situation, wording: Wording): Omit<Clause, "path" | "rule"> {
  const root: RuleNode = readRules(JSON.stringify(rule))?.root ?? { kind: "constant", value: failed };
  const outcome = evaluate(root, situation);
  const passed = outcome === failed ? null : isTruthy(outcome);
  const [value = null, wanted = null] =
    root.kind === "operation" ? root.operands.map((operand) => toJson(evaluate(operand, situation))) : [];
  if (passed === true) return { passed, value, wanted, lacks: null, text: null };
  const failure = describeFailure(root, situation);
  const [, distance] = failure.weight;
  return { passed, value, wanted, lacks: distance === 0 ? null : Math.ceil(distance), text: failure.describe(wording) };
}

function toJson(outcome: Outcome): Json {
  if (typeof outcome === "symbol") return null;
  // A wall clock is beyond the last year in zones that are ahead.
  if (isMoment(outcome)) return formatInstant(Math.min(Math.max(outcome.at, earliest), latest));
  return Array.isArray(outcome) ? outcome.map(toJson) : (outcome as Json);
}
