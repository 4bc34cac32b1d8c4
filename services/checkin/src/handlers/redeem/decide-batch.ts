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
 * Decides scans together: one read, one decision for each, one write.
 *
 * A scan stays undecided, and is not stored,
 * - after an earlier scan of its ticket and list in the batch that admits it: what was read is outdated;
 * - if another transaction changed the ticket or the list between the read and the write;
 * - if the code is unknown here and boxoffice was not asked for it yet;
 * - if its caller gave up, because of an event-loop stall or a slow database: the scan may have been decided elsewhere.
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
 * Unknown codes take two more reads for the whole batch. So do replayed forced scans: their code may lead to another
 * ticket by now. A forced scan that comes for the first time takes one.
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

/** A ticket, question or list that cannot be read must not fail the other scans of the batch. */
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
  // For an unknown code this has been read already.
  return scan.force && scan.nonce !== null && verdict.outcome !== "unknown_ticket";
}

function isRepeated(decided: DecidedScan | ScanOutcome): boolean {
  return "verdict" in decided && decided.verdict.outcome === "repeated";
}

function isUnknownYet({ scan, read, verdict }: DecidedScan): boolean {
  const isKnown = read.tickets.length > 0 || read.isMediumElsewhere || read.isRevoked;
  return verdict.outcome === "unknown_ticket" && scan.mayBeNew && !isKnown;
}

/** The ticket on its list, which at most one scan of a batch may change. */
function placeOf({ scan: { organizer, event, list }, verdict }: DecidedScan): string | undefined {
  return verdict.outcome === "unknown_ticket" ? undefined : `${organizer}/${event}/${verdict.match.ticket.id}/${list}`;
}
