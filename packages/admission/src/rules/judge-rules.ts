import type { Wording } from "../wording/wording.ts";
import { evaluate, type RuleFacts, toSituation } from "./evaluate-rule.ts";
import { explainRefusal } from "./explain-rules.ts";
import type { Rules } from "./read-rules.ts";
import { failed, isTruthy } from "./rule-values.ts";

export type { RuledScan, RuleFacts } from "./evaluate-rule.ts";

export type RulesVerdict =
  | { readonly outcome: "allowed" }
  /** The rules refuse; a forced scan overrides them. */
  | { readonly outcome: "refused"; readonly explanation: string | null }
  /** The rules could not be evaluated; a forced scan does not override that. */
  | { readonly outcome: "broken" };

const allowed: RulesVerdict = { outcome: "allowed" };
const broken: RulesVerdict = { outcome: "broken" };

/** Judges one entry by the rules of its list, and explains a refusal. */
export function judgeRules({ root }: Rules, facts: RuleFacts, wording: Wording): RulesVerdict {
  const situation = toSituation(facts);
  const outcome = evaluate(root, situation);
  if (outcome === failed) return broken;
  return isTruthy(outcome) ? allowed : { outcome: "refused", explanation: explainRefusal(root, situation, wording) };
}

/** Whether rules admit a ticket, without the reason. */
export function admits({ root }: Rules, facts: RuleFacts): boolean {
  const outcome = evaluate(root, toSituation(facts));
  return outcome !== failed && isTruthy(outcome);
}
