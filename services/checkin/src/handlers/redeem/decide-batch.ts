import type { Db } from "@tessera/kit/pg/database";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import { decideScan } from "../../domain/decide-scan.ts";
import type { Readers } from "../../readers.ts";
import type { CheckinEvents } from "../../report-events.ts";
import { readForScans, type ScanRead } from "../../store/scan-reads.ts";
import type { IsAwaited } from "./batches.ts";
import { conflict, type Decision, queuedBehind, unknownYet } from "./decision.ts";
import { type DecidedScan, toOutcome, undecided, unknownList } from "./outcome.ts";
import { readOtherMeanings, readReplayed, toCircumstances } from "./read-scans.ts";
import { storeDecided } from "./store-decided.ts";

interface Tools {
  readonly db: Db;
  readonly events: Pick<CheckinEvents, "scansFailed">;
  readonly readers: Readers;
}

/**
 * Decides scans together: one read of everything they are decided by, one decision each, one write of everything that
 * follows.
 *
 * Of several scans of one ticket on one list, those after the first admission stay undecided: what was read is outdated
 * for them. So is it for scans of a ticket or list that another transaction changed between the read and the write. If
 * the code is unknown here and boxoffice was not asked for it yet, nothing is stored. Neither is it for a caller that gave up
 * meanwhile, because this process was frozen or the database slow: the scan may have been decided elsewhere.
 */
export async function decideBatch(
  tools: Tools,
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
    const place = placeOf(decided);
    if (outcome === "repeated") decisions[index] = toOutcome(decided);
    else if (isUnknownYet(decided)) decisions[index] = unknownYet;
    else if (!isAwaited(index)) decisions[index] = undecided;
    else if (place === undefined || !changed.has(place)) open.set(index, decided);
    if (place !== undefined && outcome === "admitted") changed.add(place);
  }
  const stored = await storeDecided(tools.db, [...open.values()]);
  for (const [index, decided] of open) decisions[index] = stored.has(decided) ? toOutcome(decided) : conflict;
  return decisions;
}

/**
 * Codes of no ticket take two more reads, for all of them together. So do forced scans that were decided before: a scanner
 * may send them again long after their code leads to another ticket. The first time they take one.
 */
async function readAndDecide(tools: Tools, scans: readonly ArrivedScan[]): Promise<(DecidedScan | ScanOutcome)[]> {
  const reads = await readForScans(tools.db, scans);
  const decided = scans.map((scan, index) => decide(tools, scan, reads[index]));
  const unknown = decided.flatMap((each, index) =>
    "verdict" in each && each.verdict.outcome === "unknown_ticket" ? [{ ...each, index }] : [],
  );
  for (const [order, read] of (await readOtherMeanings(tools.db, unknown)).entries()) {
    const first = unknown[order];
    if (first !== undefined) decided[first.index] = decide(tools, first.scan, read);
  }
  const forced = decided.flatMap((each, index) => (isForcedAnew(each) ? [{ scan: each.scan, index }] : []));
  const replayed = await readReplayed(
    tools.db,
    forced.map(({ scan }) => scan),
  );
  for (const [order, { scan, index }] of forced.entries()) {
    const read = replayed[order];
    const again = read === undefined ? undefined : decide(tools, scan, read);
    if (again !== undefined && isRepeated(again)) decided[index] = again;
  }
  return decided;
}

/** A ticket, question or list that makes one scan impossible must not fail those that arrived with it. */
function decide({ events, readers }: Tools, scan: ArrivedScan, read: ScanRead | undefined): DecidedScan | ScanOutcome {
  if (read === undefined) return unknownList;
  try {
    return { scan, read, verdict: decideScan(scan, toCircumstances(scan, { read, readers })) };
  } catch (error) {
    events.scansFailed(error, 1);
    return undecided;
  }
}

function isForcedAnew(decided: DecidedScan | ScanOutcome): decided is DecidedScan {
  if (!("verdict" in decided) || isRepeated(decided)) return false;
  const { scan, verdict } = decided;
  // Where the code is of no ticket, this has been read already.
  return scan.force && scan.nonce !== null && verdict.outcome !== "unknown_ticket";
}

function isRepeated(decided: DecidedScan | ScanOutcome): boolean {
  return "verdict" in decided && decided.verdict.outcome === "repeated";
}

function isUnknownYet({ scan, read, verdict }: DecidedScan): boolean {
  const isKnown = read.tickets.length > 0 || read.isMediumElsewhere || read.isRevoked;
  return verdict.outcome === "unknown_ticket" && scan.mayBeNew && !isKnown;
}

/** Names the ticket on its list, which at most one scan at a time may change. */
function placeOf({ scan: { organizer, event, list }, verdict }: DecidedScan): string | undefined {
  return verdict.outcome === "unknown_ticket" ? undefined : `${organizer}/${event}/${verdict.match.ticket.id}/${list}`;
}
