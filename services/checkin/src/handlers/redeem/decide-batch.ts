import { type ArrivedScan, ambiguous, chooseList, decideScan, onEachList, type Readers } from "@tessera/admission";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { CheckinEvents } from "../../report-events.ts";
import { readForScans, type ScanRead } from "../../store/scan-reads.ts";
import type { IsAwaited } from "./batch-options.ts";
import type { CheckinReaders } from "./checkin-readers.ts";
import { conflict, type Decision, queuedBehind, type ToLink, unknownYet } from "./decision.ts";
import { type DecidedScan, toOutcome, undecided, unknownList } from "./outcome.ts";
import { type ReadTools, readOtherMeanings, readReplayed, toCircumstances } from "./read-scans.ts";
import { isAnswered, storeDecided } from "./store-decided.ts";

export interface DeciderTools extends ReadTools {
  readonly events: Pick<CheckinEvents, "scansFailed">;
  readonly readers: Readers;
}

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

/** Decides scans without storing anything. A scan on several lists is decided on each; then one of its decisions is chosen. */
export async function readAndDecide(
  tools: DeciderTools,
  scans: readonly ArrivedScan[],
): Promise<(DecidedScan | ScanOutcome)[]> {
  if (scans.every(({ others }) => others.length === 0)) return decideEach(tools, scans, scans);
  const tried = scans.flatMap(onEachList);
  const sentAs = scans.flatMap((scan) => [scan, ...scan.others.map(() => scan)]);
  const decided = await decideEach(tools, tried, sentAs);
  let from = 0;
  return scans.map((scan) => {
    const own = decided.slice(from, from + 1 + scan.others.length);
    from += own.length;
    return choose(own, scan);
  });
}

function choose(tried: readonly (DecidedScan | ScanOutcome)[], { at }: ArrivedScan): DecidedScan | ScanOutcome {
  const decided = tried.filter((each) => "verdict" in each);
  // A list may be deleted, and a ticket may be unreadable, while another list decides.
  const { index, isAmbiguous } = chooseList(
    decided.map(({ read, verdict }) => ({ list: read.list, verdict })),
    at,
  );
  const chosen = decided[index];
  if (chosen === undefined || (chosen.verdict.outcome === "unknown_ticket" && tried.includes(undecided)))
    return tried.includes(undecided) ? undecided : unknownList;
  return isAmbiguous && "match" in chosen.verdict ? { ...chosen, verdict: ambiguous(chosen.verdict.match) } : chosen;
}

/**
 * Unknown codes take two more reads for the whole batch. So do replayed forced scans: their code may lead to another
 * ticket by now. A forced scan that comes for the first time takes one. A scan that has a ticket on one of its lists is
 * not asked for on the others.
 */
async function decideEach(
  tools: DeciderTools,
  scans: readonly ArrivedScan[],
  sentAs: readonly ArrivedScan[],
): Promise<(DecidedScan | ScanOutcome)[]> {
  const reads = await readForScans(tools.db, scans, tools);
  const decided = scans.map((scan, index) => decide(tools, scan, reads[index]));
  const found = new Set(decided.flatMap((each, index) => (isFound(each) ? [sentAs[index]] : [])));
  const unknown = decided.flatMap((each, index) =>
    "verdict" in each && !found.has(sentAs[index]) ? [{ ...each, index }] : [],
  );
  for (const [order, read] of (await readOtherMeanings(tools, unknown)).entries()) {
    const first = unknown[order];
    if (first !== undefined) decided[first.index] = decide(tools, first.scan, read);
  }
  const forced = decided.flatMap((each, index) => (isForcedAnew(each) ? [{ scan: each.scan, index }] : []));
  const replayed = await readReplayed(
    tools,
    forced.map(({ scan }) => scan),
  );
  for (const [order, { scan, index }] of forced.entries()) {
    const read = replayed[order];
    const again = read === undefined ? undefined : decide(tools, scan, read);
    if (again !== undefined && isRepeated(again)) decided[index] = again;
  }
  return decided;
}

/** A ticket, question or list that cannot be read must not fail the other scans of the batch. */
function decide(
  { events, readers }: DeciderTools,
  scan: ArrivedScan,
  read: ScanRead | undefined,
): DecidedScan | ScanOutcome {
  if (read === undefined) return unknownList;
  try {
    return { scan, read, verdict: decideScan(scan, toCircumstances(scan, { read, readers })) };
  } catch (error) {
    events.scansFailed(error, 1);
    return undecided;
  }
}

function isFound(decided: DecidedScan | ScanOutcome): boolean {
  return "verdict" in decided && decided.verdict.outcome !== "unknown_ticket";
}

function isForcedAnew(decided: DecidedScan | ScanOutcome): decided is DecidedScan {
  if (!("verdict" in decided) || isRepeated(decided)) return false;
  const { scan, verdict } = decided;
  // For an unknown code this has been read already.
  return scan.force && scan.nonce !== null && verdict.outcome !== "unknown_ticket";
}

function isRepeated(decided: DecidedScan | ScanOutcome): boolean {
  return "verdict" in decided && decided.verdict.outcome === "repeated";
}
