import type { Wording } from "../wording/wording.ts";
import { describeFailure, type Failure } from "./describe-failure.ts";
import { evaluate, type Situation } from "./evaluate-rule.ts";
import type { RuleNode } from "./read-rules.ts";
import { failed, isTruthy } from "./rule-values.ts";

/** A screen of a scanner shows no more. */
const mostReasons = 10;

/** The most failures that are described: a thousand of them can have the same description. */
const mostWorded = 100;

/** Rules as `and` and `or` of failures; null is a rule that is met. */
type Branch =
  | { readonly kind: "all" | "any"; readonly branches: readonly Branch[] }
  | { readonly kind: "leaf"; readonly failure: Failure | null };

/** How hard a path to an admission is: the rigidity of its hardest failure, then that failure's distance. */
type Weight = Failure["weight"];

const open: Weight = [0, 0];
const shut: Weight = [Infinity, 0];

/**
 * Explains why rules refuse, by the path that is nearest to an admission.
 *
 * A path is one choice at every `or`. The best path has the lightest heaviest failure (minimax); of several, the fewest
 * failures, then the first place. Paths can be too many to list, so the tree is walked twice: first for the weight of
 * the best path, then for the best path of each part within that weight.
 */
export function explainRefusal(root: RuleNode, situation: Situation, wording: Wording): string {
  const tree = toBranch(root, situation);
  const failures = findFewest(tree, weigh(tree)) ?? [];
  const reasons = [...new Set(failures.slice(0, mostWorded).map(({ describe }) => describe(wording)))];
  if (reasons.length === 0) return wording.say("rules_refuse");
  const isWhole = reasons.length <= mostReasons && failures.length <= mostWorded;
  const written = reasons.slice(0, mostReasons).join(", ");
  return isWhole ? written : wording.say("and_more", { reasons: written });
}

function toBranch(node: RuleNode, situation: Situation): Branch {
  if (node.kind === "operation" && (node.operator === "and" || node.operator === "or")) {
    const branches = node.operands.map((operand) => toBranch(operand, situation));
    return { kind: node.operator === "and" ? "all" : "any", branches };
  }
  const outcome = evaluate(node, situation);
  const holds = outcome !== failed && isTruthy(outcome);
  return { kind: "leaf", failure: holds ? null : describeFailure(node, situation) };
}

/** Finds the weight of the best path. */
function weigh(branch: Branch): Weight {
  if (branch.kind === "leaf") return branch.failure?.weight ?? open;
  const weights = branch.branches.map(weigh);
  return branch.kind === "all"
    ? weights.reduce((a, b) => (isHeavier(b, a) ? b : a), open)
    : weights.reduce((a, b) => (isHeavier(a, b) ? b : a), shut);
}

/** Finds the path with the fewest failures, none of them heavier than the limit. */
function findFewest(branch: Branch, limit: Weight): readonly Failure[] | undefined {
  if (branch.kind === "leaf") {
    if (branch.failure === null) return [];
    return isHeavier(branch.failure.weight, limit) ? undefined : [branch.failure];
  }
  const found = branch.branches.map((part) => findFewest(part, limit));
  if (branch.kind === "any") {
    return found.reduce((a, b) => (b !== undefined && (a === undefined || b.length < a.length) ? b : a), undefined);
  }
  const all: Failure[] = [];
  for (const failures of found) {
    if (failures === undefined) return undefined;
    all.push(...failures);
  }
  return all;
}

function isHeavier(a: Weight, b: Weight): boolean {
  return a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
}
