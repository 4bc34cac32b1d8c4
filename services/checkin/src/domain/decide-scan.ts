import type { OrderStatus } from "./counted-as.ts";
import { type AdmissionTerms, coversDate, coversItem } from "./list.ts";
import { formatLocalMinute } from "./local-minute.ts";
import { afterScan, mayEnter, type Presence, type ScanType } from "./presence.ts";
import type { Refusal } from "./refusal.ts";

/** What a device asks for. */
export interface ScanToDecide {
  readonly type: ScanType;
  /** When it was scanned: what the device says, else when it arrived. */
  readonly at: number;
  /** Scanned offline, where somebody has decided already: it succeeds wherever the ticket is certain. */
  readonly force: boolean;
  readonly ignoreUnpaid: boolean;
  /** The device knows the reason `canceled`. */
  readonly canceledSupported: boolean;
}

/** What a decision needs to know of a ticket. */
export interface Ticket {
  readonly id: number;
  readonly item: number;
  readonly subevent: number | null;
  readonly addonTo: number | null;
  readonly canceled: boolean;
  readonly orderStatus: OrderStatus;
  readonly validIfPending: boolean;
  readonly requireApproval: boolean;
  readonly blocked: boolean;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/**
 * How a ticket was found: by the code as it was scanned (its own, its parent's where the list matches add-ons, its id
 * where the input is trusted), or by the code with blanks for plus signs.
 */
export type FoundBy = "code" | "code_with_blanks";

export interface Match<T extends Ticket> {
  readonly ticket: T;
  readonly foundBy: FoundBy;
  /** On the list of the scan. */
  readonly presence: Presence;
  /** A successful scan of the ticket on this list has the nonce of this scan. */
  readonly hasNonce: boolean;
}

export type Verdict<M> =
  | { readonly outcome: "admitted"; readonly match: M; readonly presence: Presence; readonly forced: boolean }
  /** Admitted before, by the scan of the same nonce: nothing new happens. */
  | { readonly outcome: "repeated"; readonly match: M }
  | { readonly outcome: "refused"; readonly match: M; readonly reason: Refusal; readonly explanation: string | null }
  | { readonly outcome: "unknown_ticket" };

/**
 * Decides one scan.
 *
 * The order is part of the contract with scanning devices: a scan that succeeded once succeeds again whatever has
 * changed since; then the ticket must be certain; then the first objection wins.
 */
export function decideScan<M extends Match<Ticket>>(
  scan: ScanToDecide,
  about: {
    readonly list: AdmissionTerms;
    /** Of the event. */
    readonly timezone: string;
    readonly matches: readonly M[];
  },
): Verdict<M> {
  const { list } = about;
  const repeated = about.matches.find((match) => match.hasNonce);
  if (repeated !== undefined) return { outcome: "repeated", match: repeated };
  const candidates = findCandidates(about.matches, list);
  const [first] = candidates;
  if (first === undefined) return { outcome: "unknown_ticket" };
  const match = singleOut(candidates, list, scan.at);
  if (match === undefined) return { outcome: "refused", match: first, reason: "ambiguous", explanation: null };

  const objection = findObjection(scan, { list, ticket: match.ticket, timezone: about.timezone });
  if (objection !== undefined && !scan.force) return { outcome: "refused", match, explanation: null, ...objection };
  const usedUp = scan.type === "entry" && !mayEnter(match.presence, list);
  if (usedUp && !scan.force) return { outcome: "refused", match, reason: "already_redeemed", explanation: null };
  return {
    outcome: "admitted",
    match,
    presence: afterScan(match.presence, scan),
    forced: objection !== undefined || usedUp,
  };
}

/** Keeps the tickets that can be meant: canceled ones and those of another date count as unknown. Base tickets come first. */
function findCandidates<M extends Match<Ticket>>(matches: readonly M[], list: AdmissionTerms): readonly M[] {
  const possible = matches.filter(({ ticket }) => !ticket.canceled && coversDate(list, ticket.subevent));
  const asScanned = possible.filter(({ foundBy }) => foundBy === "code");
  const candidates =
    asScanned.length > 0 ? asScanned : possible.filter(({ foundBy }) => foundBy === "code_with_blanks");
  return candidates.sort(
    (a, b) => Number(a.ticket.addonTo !== null) - Number(b.ticket.addonTo !== null) || a.ticket.id - b.ticket.id,
  );
}

/** Finds the ticket that is meant among several: by product, then by time. Undefined: nobody can tell. */
function singleOut<M extends Match<Ticket>>(candidates: readonly M[], list: AdmissionTerms, at: number): M | undefined {
  if (candidates.length === 1) return candidates[0];
  const onList = candidates.filter(({ ticket }) => coversItem(list, ticket.item));
  // None is on the list: any of them gets the same refusal, so the base ticket stands for all.
  if (onList.length < 2) return onList[0] ?? candidates[0];
  const valid = onList.filter(({ ticket }) => isValidAt(ticket, at));
  if (valid.length === 0) return nearestInTime(candidates, at);
  return valid.length === 1 ? valid[0] : undefined;
}

function isValidAt({ validFrom, validUntil }: Ticket, at: number): boolean {
  return (validFrom === null || validFrom <= at) && (validUntil === null || validUntil > at);
}

/** Takes the ticket that becomes valid next, else the one that expired last. */
function nearestInTime<M extends Match<Ticket>>(candidates: readonly M[], at: number): M | undefined {
  const next = leastBy(candidates, ({ ticket }) =>
    ticket.validFrom !== null && ticket.validFrom > at ? ticket.validFrom : null,
  );
  const last = leastBy(candidates, ({ ticket }) =>
    ticket.validUntil !== null && ticket.validUntil <= at ? -ticket.validUntil : null,
  );
  return next ?? last ?? candidates[0];
}

function leastBy<M>(values: readonly M[], measure: (value: M) => number | null): M | undefined {
  let least: { readonly value: M; readonly size: number } | undefined;
  for (const value of values) {
    const size = measure(value);
    if (size !== null && (least === undefined || size < least.size)) least = { value, size };
  }
  return least?.value;
}

/** Finds the first reason to refuse that `force` overrides. Exits are free of the ticket's time. */
function findObjection(
  scan: ScanToDecide,
  { list, ticket, timezone }: { list: AdmissionTerms; ticket: Ticket; timezone: string },
): { readonly reason: Refusal; readonly explanation?: string } | undefined {
  const { orderStatus, validFrom, validUntil } = ticket;
  if (orderStatus !== "paid" && orderStatus !== "pending") {
    return { reason: scan.canceledSupported ? "canceled" : "unpaid" };
  }
  if (ticket.blocked) return { reason: "blocked" };
  if (orderStatus === "pending" && ticket.requireApproval) return { reason: "unapproved" };
  if (scan.type === "entry" && validFrom !== null && validFrom > scan.at) {
    return { reason: "invalid_time", explanation: `Valid from ${formatLocalMinute(validFrom, timezone)}.` };
  }
  if (scan.type === "entry" && validUntil !== null && validUntil < scan.at) {
    return { reason: "invalid_time", explanation: `Valid until ${formatLocalMinute(validUntil, timezone)}.` };
  }
  if (!coversItem(list, ticket.item)) return { reason: "product" };
  const paid = orderStatus === "paid" || ticket.validIfPending || (scan.ignoreUnpaid && list.includePending);
  return paid ? undefined : { reason: "unpaid" };
}
