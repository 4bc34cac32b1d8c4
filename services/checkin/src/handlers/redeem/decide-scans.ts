import { type ArrivedScan, ambiguous, chooseList, decideScan, onEachList, type Readers } from "@tessera/admission";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { CheckinEvents } from "../../report-events.ts";
import { readForScans, type ScanRead } from "../../store/scan-reads.ts";
import { type DecidedScan, undecided, unknownList } from "./outcome.ts";
import { type ReadTools, readOtherMeanings, readReplayed, toCircumstances } from "./read-scans.ts";

export interface DeciderTools extends ReadTools {
  readonly events: Pick<CheckinEvents, "scansFailed">;
  readonly readers: Readers;
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
