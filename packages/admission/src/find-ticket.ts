import { type AdmissionTerms, coversDate } from "./list.ts";
import type { Match, Ticket } from "./ticket.ts";

/**
 * Keeps the tickets that a code can mean, base tickets first.
 *
 * A canceled ticket and a ticket of another date count as unknown, unless a medium or a revoked code leads to them. A
 * way of finding tickets counts only where the ways before it find none. A canceled ticket is dropped beside a valid
 * one: a medium keeps the tickets that were exchanged.
 */
export function findCandidates<M extends Match>(matches: readonly M[], list: AdmissionTerms): readonly M[] {
  const known = matches.filter(({ ticket }) => !ticket.canceled && coversDate(list, ticket.subevent));
  const ways = [
    known.filter(({ foundBy }) => foundBy === "code"),
    known.filter(({ foundBy }) => foundBy === "code_with_blanks"),
    matches.filter(({ foundBy }) => foundBy === "medium"),
    matches.filter(({ foundBy }) => foundBy === "revoked"),
  ];
  const found = ways.find((way) => way.length > 0) ?? [];
  const valid = found.filter(({ ticket }) => !ticket.canceled);
  const candidates = valid.length > 0 ? valid : found;
  return candidates.toSorted(
    (a, b) => Number(a.ticket.addonTo !== null) - Number(b.ticket.addonTo !== null) || a.ticket.id - b.ticket.id,
  );
}

/** Finds the ticket that is meant among several: by product, then by time. Undefined: it is ambiguous. */
export function singleOut<M extends Pick<Match, "ticket">>(
  candidates: readonly M[],
  { isOnList, at }: { readonly isOnList: (candidate: M) => boolean; readonly at: number },
): M | undefined {
  if (candidates.length === 1) return candidates[0];
  const onList = candidates.filter(isOnList);
  // If none of them is on the list, all get the same refusal: the base ticket represents them.
  if (onList.length < 2) return onList[0] ?? candidates[0];
  const valid = onList.filter(({ ticket }) => isValidAt(ticket, at));
  if (valid.length === 0) return nearestInTime(candidates, at);
  return valid.length === 1 ? valid[0] : undefined;
}

function isValidAt({ validFrom, validUntil }: Ticket, at: number): boolean {
  return (validFrom === null || validFrom <= at) && (validUntil === null || validUntil > at);
}

/** Takes the ticket that becomes valid next, else the one that expired last. */
function nearestInTime<M extends Pick<Match, "ticket">>(candidates: readonly M[], at: number): M | undefined {
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
