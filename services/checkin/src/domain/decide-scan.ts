import type { ArrivedScan } from "./arrived-scan.ts";
import { findCandidates, singleOut } from "./find-ticket.ts";
import { type AdmissionTerms, coversDate, coversItem } from "./list.ts";
import { afterScan, mayEnter, type Presence } from "./presence.ts";
import { answerQuestions, type GivenAnswer, type Reader } from "./questions/answer-questions.ts";
import type { Question } from "./questions/question.ts";
import { judgeRules } from "./rules/judge-rules.ts";
import type { Rules } from "./rules/read-rules.ts";
import type { Match } from "./ticket.ts";

/** Why a scan is refused; scanning devices know these words. */
type Refusal =
  | "revoked"
  | "ambiguous"
  | "canceled"
  | "blocked"
  | "unapproved"
  | "invalid_time"
  | "product"
  | "unpaid"
  | "rules"
  | "already_redeemed";

/** What a scan is decided by, whichever ticket its code means. */
export interface Circumstances<M extends Match> {
  readonly list: AdmissionTerms;
  /** Null: the list has none. */
  readonly rules: Rules | null;
  /** Reads answers and times as the event does. */
  readonly reader: Reader;
  /** The language in which a refusal of the ticket is explained. */
  readonly wordingOf: (match: M) => Reader["wording"];
  readonly matches: readonly M[];
  /** The code belongs to a medium whose tickets are all of other events. */
  readonly isMediumElsewhere: boolean;
  /** A ticket had the code once; the ticket may be deleted. */
  readonly isRevoked: boolean;
}

export type Verdict<M> = Admitted<M> | Repeated<M> | Refused<M> | Incomplete<M> | UnknownTicket;

interface Admitted<M> {
  readonly outcome: "admitted";
  readonly match: M;
  /** The presence after the scan. */
  readonly presence: Presence;
  readonly forced: boolean;
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
 * the list, of its rules, of its questions, and last of earlier scans.
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
  const againstTicket = objectToTicket(scan, about, match);
  if (againstTicket !== undefined && !scan.force) return refuse(match, againstTicket);

  const { given, missing } = isEntry ? answer(scan, about, match) : unasked;
  const againstList = objectOnList(scan, list, match);
  if (againstList !== undefined && !scan.force) return refuse(match, againstList, given);
  const byRules = isEntry ? objectByRules(scan, about, match) : undefined;
  // Force overrides a judgment; rules that cannot be evaluated gave none.
  if (byRules !== undefined && (!scan.force || byRules.isBroken)) return refuse(match, byRules, given);
  if (missing.length > 0 && scan.questionsSupported && !scan.force) {
    return { outcome: "incomplete", match, missing, given };
  }
  const usedUp = isEntry && !mayEnter(match.presence, list);
  if (usedUp && !scan.force) return refuse(match, { reason: "already_redeemed" }, given);
  const overridden = [againstTicket, againstList, byRules].some((objection) => objection !== undefined);
  return {
    outcome: "admitted",
    match,
    presence: afterScan(match.presence, scan),
    forced: overridden || usedUp || match.foundBy === "revoked",
    given,
  };
}

interface Objection {
  readonly reason: Refusal;
  readonly explanation?: string | null;
}

function refuse<M>(
  match: M,
  { reason, explanation = null }: Objection,
  given: readonly GivenAnswer[] = [],
): Refused<M> {
  return { outcome: "refused", match, reason, explanation, given };
}

/** Finds what is wrong with the ticket, whatever the list. Exits ignore the validity period of the ticket. */
function objectToTicket<M extends Match>(
  scan: ArrivedScan,
  { reader: { zone }, wordingOf }: Circumstances<M>,
  match: M,
): Objection | undefined {
  const { ticket } = match;
  const { orderStatus, validFrom, validUntil } = ticket;
  const wording = wordingOf(match);
  if (ticket.canceled || (orderStatus !== "paid" && orderStatus !== "pending")) {
    return { reason: scan.canceledSupported ? "canceled" : "unpaid" };
  }
  if (ticket.blocked) return { reason: "blocked" };
  if (orderStatus === "pending" && ticket.requireApproval) return { reason: "unapproved" };
  if (scan.type === "entry" && validFrom !== null && validFrom > scan.at) {
    return {
      reason: "invalid_time",
      explanation: wording.say("valid_from", { time: wording.moment(validFrom, zone) }),
    };
  }
  if (scan.type === "entry" && validUntil !== null && validUntil < scan.at) {
    return {
      reason: "invalid_time",
      explanation: wording.say("valid_until", { time: wording.moment(validUntil, zone) }),
    };
  }
  return undefined;
}

function objectOnList(scan: ArrivedScan, list: AdmissionTerms, { ticket }: Match): Objection | undefined {
  const { orderStatus, validIfPending } = ticket;
  if (!coversItem(list, ticket.item)) return { reason: "product" };
  if (!coversDate(list, ticket.subevent)) return { reason: "product" };
  const mayBePending = orderStatus === "pending" && scan.ignoreUnpaid && list.includePending;
  return orderStatus === "paid" || validIfPending || mayBePending ? undefined : { reason: "unpaid" };
}

function objectByRules<M extends Match>(
  { at, gate }: ArrivedScan,
  { rules, reader: { zone }, wordingOf }: Circumstances<M>,
  match: M,
): (Objection & { readonly isBroken: boolean }) | undefined {
  if (rules === null) return undefined;
  const { ticket, scans, dates } = match;
  const { item, variation } = ticket;
  const verdict = judgeRules(rules, { at, zone, item, variation, gate, scans, dates }, wordingOf(match));
  if (verdict.outcome === "allowed") return undefined;
  if (verdict.outcome === "broken") return { reason: "rules", isBroken: true };
  return { reason: "rules", explanation: verdict.explanation, isBroken: false };
}

const unasked = { given: [], missing: [] };

function answer(
  { answers: sent }: ArrivedScan,
  { reader }: Pick<Circumstances<Match>, "reader">,
  { questions, answers: stored }: Match,
) {
  if (questions.length === 0) return unasked;
  return answerQuestions({ questions, sent, stored, reader });
}
