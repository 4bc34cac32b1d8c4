import type { ArrivedScan } from "@tessera/admission";
import type { IsAwaited } from "./batch-options.ts";
import type { CheckinReaders } from "./checkin-readers.ts";
import { type DeciderTools, readAndDecide } from "./decide-scans.ts";
import { conflict, type Decision, queuedBehind, type ToLink, unknownYet } from "./decision.ts";
import { type DecidedScan, toOutcome, undecided } from "./outcome.ts";
import { isAnswered, storeDecided } from "./store-decided.ts";

/**
 * Decides scans together: one read, one decision for each, one write.
 *
 * A scan stays undecided, and is not stored,
 * - after an earlier scan of its ticket in the batch that changes it or has no answer yet: what was read is outdated;
 * - if another transaction changed the ticket or the list between the read and the write;
 * - if the code is unknown here and boxoffice was not asked for it yet;
 * - if boxoffice has to link a medium to its ticket first;
 * - if its caller gave up, because of an event-loop stall or a slow database: the scan may have been decided elsewhere.
 */
export async function decideBatch(
  tools: DeciderTools & { readonly readers: CheckinReaders },
  { scans, isAwaited }: { readonly scans: readonly ArrivedScan[]; readonly isAwaited: IsAwaited },
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const open = new Map<number, DecidedScan>();
  const changed = new Set<string>();
  for (const [index, decided] of (await readAndDecide(tools, scans)).entries()) {
    decisions.push(queuedBehind);
    if (!("verdict" in decided)) {
      decisions[index] = decided;
      continue;
    }
    const { outcome } = decided.verdict;
    const ticket = ticketOf(decided);
    const toLink = findToLink(decided);
    if (ticket !== undefined && changed.has(ticket)) continue;
    if (outcome === "repeated") decisions[index] = toOutcome(decided);
    else if (isUnknownYet(decided)) decisions[index] = unknownYet;
    else if (toLink !== undefined) decisions[index] = { toLink };
    else if (!isAwaited(index)) decisions[index] = undecided;
    else open.set(index, decided);
    if (ticket !== undefined && (outcome === "admitted" || toLink !== undefined || isAnswered(decided)))
      changed.add(ticket);
  }
  const stored = await storeDecided(tools, [...open.values()]);
  for (const [index, decided] of open) decisions[index] = stored.has(decided) ? toOutcome(decided) : conflict;
  return decisions;
}

/** Whether boxoffice may know the ticket of an unknown code. */
export function isUnknownYet({ scan, read, verdict }: DecidedScan): boolean {
  const isKnown = read.tickets.length > 0 || read.isMediumElsewhere || read.isRevoked;
  return verdict.outcome === "unknown_ticket" && scan.mayBeNew && !isKnown;
}

function findToLink({ scan: { organizer, event }, verdict }: DecidedScan): ToLink["toLink"] | undefined {
  if (verdict.outcome !== "exchange" || verdict.medium === null) return undefined;
  const { type, identifier } = verdict.medium;
  return { organizer, event, position: verdict.match.ticket.id, type, identifier, policy: verdict.terms.policy };
}

/** The ticket, which at most one scan of a batch may change: its answers and media count on all lists. */
function ticketOf({ scan: { organizer, event }, verdict }: DecidedScan): string | undefined {
  return verdict.outcome === "unknown_ticket" ? undefined : `${organizer}/${event}/${verdict.match.ticket.id}`;
}
