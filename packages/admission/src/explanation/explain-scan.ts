import { formatInstant } from "@tessera/values";
import type { ArrivedScan } from "../arrived-scan.ts";
import { answer, type Verdict } from "../decide-scan.ts";
import { judgeExchange } from "../exchange.ts";
import {
  type Check,
  type Circumstances,
  factsOf,
  listChecks,
  objectByLimit,
  objectByRules,
  ticketChecks,
} from "../objections.ts";
import { mayEnter } from "../presence.ts";
import type { Match, Ticket } from "../ticket.ts";
import { type Clause, explainClauses, type Json } from "./explain-clauses.ts";

/** One step of a decision. Each is examined by itself: the first that is not passed decides. */
export interface Step {
  readonly step: "code" | "nonce" | Check["name"] | "rules" | "questions" | "exchange" | "entries" | "limit";
  /** Null: it is not asked of an exit. */
  readonly passed: boolean | null;
  /** What was examined. */
  readonly value: Json;
  /** The reason code of a refusal. */
  readonly reason: string | null;
  readonly text: string | null;
}

export interface Explanation {
  readonly steps: readonly Step[];
  /** Of the rules of the list. */
  readonly clauses: readonly Clause[];
}

/** Explains a decision step by step. */
export function explainScan<M extends Match>(
  scan: ArrivedScan,
  {
    about,
    rules,
    verdict,
  }: { readonly about: Circumstances<M>; readonly rules: unknown; readonly verdict: Verdict<M> },
): Explanation {
  if (!("match" in verdict)) {
    const reason = verdict.isRevoked ? "revoked" : "invalid";
    return { steps: [refused("code", reason, { text: verdict.explanation })], clauses: [] };
  }
  const { match } = verdict;
  if (verdict.outcome === "refused" && (verdict.reason === "revoked" || verdict.reason === "ambiguous"))
    return { steps: [refused("code", verdict.reason, { value: match.foundBy })], clauses: [] };
  const isEntry = scan.type === "entry";
  const steps = [
    passed("code", match.foundBy),
    ...(verdict.outcome === "repeated" ? [passed("nonce", "repeated")] : []),
    ...[...ticketChecks, ...listChecks].map((check) => explainCheck(check, { scan, about, match })),
    ...(isEntry
      ? entrySteps(scan, about, match)
      : (["rules", "questions", "exchange", "entries", "limit"] as const).map(skipped)),
  ];
  const clauses =
    isEntry && about.rules !== null ? explainClauses(rules, factsOf(scan, about, match), about.wordingOf(match)) : [];
  return { steps, clauses };
}

function explainCheck<M extends Match>(
  { name, isOfEntries, find }: Check,
  { scan, about, match }: { readonly scan: ArrivedScan; readonly about: Circumstances<M>; readonly match: M },
): Step {
  if (isOfEntries === true && scan.type !== "entry") return skipped(name);
  const value = examined(name, match.ticket);
  const objection = find(scan, about, match);
  return objection === undefined
    ? passed(name, value)
    : refused(name, objection.reason, { value, text: objection.explanation ?? null });
}

function entrySteps<M extends Match>(scan: ArrivedScan, about: Circumstances<M>, match: M): Step[] {
  const byRules = objectByRules(scan, about, match);
  const missing = answer(scan, about, match).missing.map(({ id }) => id);
  const { entries, last } = match.presence;
  const presence = { entries, last: last && { type: last.type, datetime: formatInstant(last.at) } };
  return [
    byRules === undefined ? passed("rules", null) : refused("rules", "rules", { text: byRules.explanation ?? null }),
    missing.length === 0 || !scan.questionsSupported
      ? passed("questions", missing)
      : refused("questions", "incomplete", { value: missing }),
    explainExchange(scan, about, match),
    mayEnter(match.presence, about.list)
      ? passed("entries", presence)
      : refused("entries", "already_redeemed", { value: presence }),
    explainLimit(scan, about, match),
  ];
}

function explainLimit<M extends Match>(scan: ArrivedScan, about: Circumstances<M>, match: M): Step {
  const objection = objectByLimit(scan, about, match);
  const value = about.room && { ...about.room };
  return objection === undefined
    ? passed("limit", value)
    : refused("limit", objection.reason, { value, text: objection.explanation ?? null });
}

function explainExchange<M extends Match>(scan: ArrivedScan, about: Circumstances<M>, match: M): Step {
  const exchange = judgeExchange(scan, about, match);
  const { mediaTerms: terms } = match;
  const value = terms && { policy: terms.policy, type: terms.type };
  switch (exchange.outcome) {
    case "done":
      return passed("exchange", value);
    case "refused":
      return refused("exchange", exchange.reason, { value });
    default:
      return refused("exchange", "exchange", { value, text: about.wordingOf(match).say("exchange") });
  }
}

function examined(name: Check["name"], ticket: Ticket): Json {
  const time = (at: number | null) => (at === null ? null : formatInstant(at));
  const values: Readonly<Record<Check["name"], Json>> = {
    status: ticket.canceled ? "canceled" : ticket.orderStatus,
    blocked: ticket.blocked,
    approval: ticket.requireApproval,
    valid_from: time(ticket.validFrom),
    valid_until: time(ticket.validUntil),
    product: ticket.item,
    date: ticket.subevent,
    payment: ticket.orderStatus,
  };
  return values[name];
}

function passed(step: Step["step"], value: Json): Step {
  return { step, passed: true, value, reason: null, text: null };
}

function skipped(step: Step["step"]): Step {
  return { step, passed: null, value: null, reason: null, text: null };
}

function refused(
  step: Step["step"],
  reason: string,
  { value = null, text = null }: { readonly value?: Json; readonly text?: string | null },
): Step {
  return { step, passed: false, value, reason, text };
}
