import type { ArrivedScan } from "./arrived-scan.ts";
import { judgeExchange } from "./exchange.ts";
import { findCandidates, singleOut } from "./find-ticket.ts";
import { coversItem } from "./list.ts";
import type { BroughtMedium, MediaTerms } from "./media-terms.ts";
import {
  type Circumstances,
  firstObjection,
  listChecks,
  type Objection,
  objectByLimit,
  objectByRules,
  type Refusal,
  ticketChecks,
} from "./objections.ts";
import { afterScan, isOutOfOrder, mayEnter, type Presence } from "./presence.ts";
import { answerQuestions, type GivenAnswer } from "./questions/answer-questions.ts";
import type { Question } from "./questions/question.ts";
import type { Match } from "./ticket.ts";

export type Verdict<M> = Admitted<M> | Repeated<M> | Refused<M> | Incomplete<M> | Exchange<M> | UnknownTicket;

interface Admitted<M> {
  readonly outcome: "admitted";
  readonly match: M;
  /** The presence after the scan. */
  readonly presence: Presence;
  /**
   * The objection that `force` overruled: without force it would have been the reason of a refusal. `limit`: that of a full list, which
   * says nothing against the ticket.
   */
  readonly overruled: Refusal | "limit" | null;
  readonly isOutOfOrder: boolean;
  readonly given: readonly GivenAnswer[];
}

/** The ticket was admitted before by a scan with this nonce: nothing new happens. */
interface Repeated<M> {
  readonly outcome: "repeated";
  readonly match: M;
}

interface Refused<M> {
  readonly outcome: "refused";
  readonly match: M;
  readonly reason: Refusal;
  readonly explanation: string | null;
  /** Answers are kept where nothing is wrong with the ticket itself, so that no visitor is asked twice. */
  readonly given: readonly GivenAnswer[];
}

/** Questions have to be answered first. */
interface Incomplete<M> {
  readonly outcome: "incomplete";
  readonly match: M;
  readonly missing: readonly Question[];
  readonly given: readonly GivenAnswer[];
}

/** The ticket has to be exchanged for a medium first. */
interface Exchange<M> {
  readonly outcome: "exchange";
  readonly match: M;
  readonly terms: MediaTerms;
  /** The medium that boxoffice has to link to the ticket; null: the visitor has to bring one. */
  readonly medium: BroughtMedium | null;
  readonly explanation: string;
  readonly given: readonly GivenAnswer[];
}

/** No ticket has the code. */
interface UnknownTicket {
  readonly outcome: "unknown_ticket";
  /** A ticket had the code once, and was deleted. */
  readonly isRevoked: boolean;
  readonly explanation: string | null;
}

/**
 * Decides one scan.
 *
 * The order is part of the contract with scanning devices: a scan that succeeded once succeeds again whatever has
 * changed since; then the ticket must be certain; then the first objection decides: against the ticket itself, of
 * the list, of its rules, of its questions, of its exchange for a medium, of earlier scans, and last of the persons inside.
 */
export function decideScan<M extends Match>(scan: ArrivedScan, about: Circumstances<M>): Verdict<M> {
  const repeated = about.matches.find((match) => match.hasNonce);
  if (repeated !== undefined) return { outcome: "repeated", match: repeated };
  const candidates = findCandidates(about.matches, about.list);
  const [first] = candidates;
  if (first === undefined) {
    const explanation = about.isMediumElsewhere ? about.reader.wording.say("medium_elsewhere") : null;
    return { outcome: "unknown_ticket", isRevoked: about.isRevoked, explanation };
  }
  if (first.foundBy === "revoked" && !scan.force) return refuse(first, { reason: "revoked" });
  const isOnList = ({ ticket }: M) => coversItem(about.list, ticket.item);
  const match = singleOut(candidates, { isOnList, at: scan.at });
  if (match === undefined) return ambiguous(first);
  return judge(scan, about, match);
}

/** Several tickets have the code, and nothing tells which is meant. */
export function ambiguous<M>(match: M): Refused<M> {
  return refuse(match, { reason: "ambiguous" });
}

function judge<M extends Match>(scan: ArrivedScan, about: Circumstances<M>, match: M): Verdict<M> {
  const { list } = about;
  const isEntry = scan.type === "entry";
  const againstTicket = firstObjection(ticketChecks, scan, about, match);
  if (againstTicket !== undefined && !scan.force) return refuse(match, againstTicket);

  const { given, missing } = isEntry ? answer(scan, about, match) : unasked;
  const againstList = firstObjection(listChecks, scan, about, match);
  if (againstList !== undefined && !scan.force) return refuse(match, againstList, given);
  const byRules = isEntry ? objectByRules(scan, about, match) : undefined;
  // Force overrides a judgment; rules that cannot be evaluated gave none.
  if (byRules !== undefined && (!scan.force || byRules.isBroken)) return refuse(match, byRules, given);
  if (missing.length > 0 && scan.questionsSupported && !scan.force) {
    return { outcome: "incomplete", match, missing, given };
  }
  const usedUp = isEntry && !mayEnter(match.presence, list);
  const overLimit = usedUp ? undefined : objectByLimit(scan, about, match);
  const exchange = isEntry ? judgeExchange(scan, about, match) : exchanged;
  if (exchange.outcome === "refused") return refuse(match, exchange, given);
  // No medium is linked for a scan that is refused all the same.
  if (exchange.outcome === "wanted" || (exchange.outcome === "brought" && !usedUp && overLimit === undefined)) {
    const medium = exchange.outcome === "brought" ? exchange.medium : null;
    const explanation = about.wordingOf(match).say("exchange");
    return { outcome: "exchange", match, terms: exchange.terms, medium, explanation, given };
  }
  if (usedUp && !scan.force) return refuse(match, { reason: "already_redeemed" }, given);
  if (overLimit !== undefined && !scan.force) return refuse(match, overLimit, given);
  const revoked: Objection | undefined = match.foundBy === "revoked" ? { reason: "revoked" } : undefined;
  const overruled = revoked ?? againstTicket ?? againstList ?? byRules;
  return {
    outcome: "admitted",
    match,
    presence: afterScan(match.presence, scan),
    overruled: overruled?.reason ?? (usedUp ? "already_redeemed" : overLimit === undefined ? null : "limit"),
    isOutOfOrder: isOutOfOrder(match.presence, scan, list),
    given,
  };
}

function refuse<M>(
  match: M,
  { reason, explanation = null }: Objection,
  given: readonly GivenAnswer[] = [],
): Refused<M> {
  return { outcome: "refused", match, reason, explanation, given };
}

const exchanged = { outcome: "done" } as const;

const unasked = { given: [], missing: [] };

/** What a scan answers, and what it leaves open. */
export function answer(
  { answers: sent }: ArrivedScan,
  { reader }: Pick<Circumstances<Match>, "reader">,
  { questions, answers: stored }: Match,
) {
  if (questions.length === 0) return unasked;
  return answerQuestions({ questions, sent, stored, reader });
}
