import type { ArrivedScan } from "./arrived-scan.ts";
import { type AdmissionTerms, coversDate, coversItem } from "./list.ts";
import { afterScan, countChange } from "./presence.ts";
import type { Reader } from "./questions/answer-questions.ts";
import { judgeRules, type RuleFacts } from "./rules/judge-rules.ts";
import type { Rules } from "./rules/read-rules.ts";
import type { Match } from "./ticket.ts";

/** Why a scan is refused; scanning devices know these words. */
export type Refusal =
  | "revoked"
  | "ambiguous"
  | "canceled"
  | "blocked"
  | "unapproved"
  | "invalid_time"
  | "product"
  | "unpaid"
  | "rules"
  | "already_redeemed"
  | "already_exchanged"
  | "medium_invalid"
  | "medium_exists";

/** What a scan is decided by, whichever ticket its code means. */
export interface Circumstances<M extends Match> {
  readonly list: AdmissionTerms;
  /** How many persons may be inside, and are; null: there is no limit. */
  readonly room: { readonly limit: number; readonly inside: number } | null;
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
  /** A ticket that was exchanged for a medium admits no more by its own code. */
  readonly isMediumEnforced: boolean;
}

export interface Objection {
  readonly reason: Refusal;
  readonly explanation?: string | null;
}

type Find = <M extends Match>(scan: ArrivedScan, about: Circumstances<M>, match: M) => Objection | undefined;

/** Finds one thing that may be wrong. */
export interface Check {
  readonly name: "status" | "blocked" | "approval" | "valid_from" | "valid_until" | "product" | "date" | "payment";
  /** Exits pass it. */
  readonly isOfEntries?: true;
  readonly find: Find;
}

/** What may be wrong with a ticket, whatever the list; the first objection decides. */
export const ticketChecks: readonly Check[] = [
  {
    name: "status",
    find: ({ canceledSupported }, _about, { ticket: { canceled, orderStatus } }) =>
      canceled || (orderStatus !== "paid" && orderStatus !== "pending")
        ? { reason: canceledSupported ? "canceled" : "unpaid" }
        : undefined,
  },
  { name: "blocked", find: (_scan, _about, { ticket }) => (ticket.blocked ? { reason: "blocked" } : undefined) },
  {
    name: "approval",
    find: (_scan, _about, { ticket: { orderStatus, requireApproval } }) =>
      orderStatus === "pending" && requireApproval ? { reason: "unapproved" } : undefined,
  },
  {
    name: "valid_from",
    isOfEntries: true,
    find: ({ at }, about, match) => {
      const { validFrom } = match.ticket;
      return validFrom !== null && validFrom > at ? outOfTime("valid_from", validFrom, about, match) : undefined;
    },
  },
  {
    name: "valid_until",
    isOfEntries: true,
    find: ({ at }, about, match) => {
      const { validUntil } = match.ticket;
      return validUntil !== null && validUntil < at ? outOfTime("valid_until", validUntil, about, match) : undefined;
    },
  },
];

/** What a list may object to; the first objection decides. */
export const listChecks: readonly Check[] = [
  {
    name: "product",
    find: (_scan, { list }, { ticket }) => (coversItem(list, ticket.item) ? undefined : { reason: "product" }),
  },
  {
    name: "date",
    find: (_scan, { list }, { ticket }) => (coversDate(list, ticket.subevent) ? undefined : { reason: "product" }),
  },
  {
    name: "payment",
    find: ({ ignoreUnpaid }, { list }, { ticket: { orderStatus, validIfPending } }) => {
      const mayBePending = orderStatus === "pending" && ignoreUnpaid && list.includePending;
      return orderStatus === "paid" || validIfPending || mayBePending ? undefined : { reason: "unpaid" };
    },
  },
];

export function firstObjection<M extends Match>(
  checks: readonly Check[],
  scan: ArrivedScan,
  about: Circumstances<M>,
  match: M,
): Objection | undefined {
  for (const { isOfEntries, find } of checks) {
    const objection = isOfEntries === true && scan.type !== "entry" ? undefined : find(scan, about, match);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

function outOfTime<M extends Match>(
  limit: "valid_from" | "valid_until",
  at: number,
  { reader: { zone }, wordingOf }: Circumstances<M>,
  match: M,
): Objection {
  const wording = wordingOf(match);
  return { reason: "invalid_time", explanation: wording.say(limit, { time: wording.moment(at, zone) }) };
}

/** The objection of the rules of the list, to entries alone. */
export function objectByRules<M extends Match>(
  scan: ArrivedScan,
  about: Circumstances<M>,
  match: M,
): (Objection & { readonly isBroken: boolean }) | undefined {
  const { rules } = about;
  if (rules === null) return undefined;
  const verdict = judgeRules(rules, factsOf(scan, about, match), about.wordingOf(match));
  if (verdict.outcome === "allowed") return undefined;
  if (verdict.outcome === "broken") return { reason: "rules", isBroken: true };
  return { reason: "rules", explanation: verdict.explanation, isBroken: false };
}

/** The objection of the limit of persons inside, to entries that would add one. */
export function objectByLimit<M extends Match>(
  scan: ArrivedScan,
  { room, wordingOf }: Circumstances<M>,
  match: M,
): Objection | undefined {
  const { presence } = match;
  if (room === null || room.inside < room.limit) return undefined;
  if (countChange(presence, afterScan(presence, scan)).inside <= 0) return undefined;
  return { reason: "rules", explanation: wordingOf(match).say("full", { limit: String(room.limit) }) };
}

/** What rules ask about a scan of a ticket. */
export function factsOf(
  { at, gate }: ArrivedScan,
  { reader: { zone } }: Pick<Circumstances<Match>, "reader">,
  { ticket: { item, variation }, scans, dates }: Match,
): RuleFacts {
  return { at, zone, item, variation, gate, scans, dates };
}
