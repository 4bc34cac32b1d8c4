import { setTimeout } from "node:timers/promises";
import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Db } from "@tessera/kit/pg/database";
import type { Call } from "@tessera/kit/rpc";
import type {
  RedeemOnListsRequest,
  RedeemOnListsResponse,
  RedeemRequest,
  RedeemResponse,
  Scan,
  ScanOutcome,
} from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { type ArrivedScan, onEachList } from "../../domain/arrived-scan.ts";
import { secondsAhead } from "../../domain/seconds-ahead.ts";
import type { Readers } from "../../readers.ts";
import type { CheckinEvents } from "../../report-events.ts";
import { toArrivedScan } from "../../wire/scans.ts";
import type { ListPlaces } from "../list-places.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";
import { type Batches, type BatchesOptions, createBatches } from "./batches.ts";
import { decideBatch } from "./decide-batch.ts";
import { type Answer, unknownYet } from "./decision.ts";
import { expandOutcome } from "./expand-outcome.ts";
import { fitOutcome } from "./fit-outcome.ts";
import type { LinkMedia } from "./link-medium.ts";
import { undecided } from "./outcome.ts";
import type { Wait } from "./queued-scan.ts";

export interface RedeemDeps {
  /** A connection pool for scans alone. */
  readonly urgent: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  readonly batches: Batches;
  /** Fetches tickets that were sold so lately that they are unknown here. */
  readonly unknownTickets: UnknownTickets;
  readonly listPlaces: ListPlaces;
  readonly linkMedia: LinkMedia;
}

/** Longer ones cannot be indexed; the gateway refuses them with a better error. */
const longestNonce = 190;

/** As long as another transaction may lock a ticket or a list, and less than the gateway waits. */
const patienceMs = 3000;

/** Opens the batches in which this process decides the scans of all its callers. */
export function openBatches({
  urgent,
  events,
  readers,
  ...sizes
}: Pick<RedeemDeps, "urgent" | "events"> & { readonly readers: Readers } & Pick<
    BatchesOptions,
    "atOnce" | "batchSize" | "mostPerSecond" | "longestQueue"
  >): Batches {
  return createBatches({
    decide: (scans, isAwaited) => decideBatch({ db: urgent, withIds: true, events, readers }, { scans, isAwaited }),
    onFailure: (error, scans) => events.scansFailed(error, scans),
    ...sizes,
  });
}

/** Decides a scan in a batch with others. */
export async function redeem({ scan }: RedeemRequest, deps: RedeemDeps, call: Waiting): Promise<RedeemResponse> {
  if (scan === undefined) throw new Error("a call to redeem has no scan");
  return decideScan(scan, { others: [] }, { deps, call });
}

/** Decides a scan on the list that its ticket is for. */
export async function redeemOnLists(
  { scan, lists, among }: RedeemOnListsRequest,
  deps: RedeemDeps,
  call: Waiting,
): Promise<RedeemOnListsResponse> {
  if (scan === undefined) throw new Error("a call to redeem has no scan");
  const places = await deps.listPlaces.require({ organizer: scan.organizer, lists, among: among?.slugs });
  const [first, ...others] = places;
  return decideScan({ ...scan, ...first }, { others }, { deps, call });
}

type Waiting = Pick<Call, "signal" | "deadline">;

async function decideScan(
  scan: Scan,
  { others }: Pick<ArrivedScan, "others">,
  { deps, call: { signal, deadline } }: { readonly deps: RedeemDeps; readonly call: Waiting },
): Promise<RedeemResponse> {
  const { urgent, clock, events, unknownTickets } = deps;
  const { nonce = "" } = scan;
  if (nonce.length > longestNonce && [...nonce].length > longestNonce) return { outcome: undecided };
  const now = clock.now();
  const seconds = secondsAhead({ at: scan.at ?? now, now });
  if (seconds !== undefined) events.scanAhead(scan, { seconds });
  const { traceparent } = currentContext();
  const arrived = toArrivedScan(scan, { now, traceparent, others, mayBeNew: unknownTickets.mayBeAsked(scan) });
  const outcome = await decide(deps, arrived, { signal, deadline, patienceMs });
  const { event, id: list } = outcome.list ?? { event: scan.event, id: scan.list };
  const decided = { ...scan, event, list };
  events.scanDecided(decided, outcome);
  const shown = await expandOutcome(urgent, { scan: decided, outcome }).catch((error: unknown) => {
    // The decision is stored, so it is answered, if need be by ids alone.
    events.notExpanded(error);
    return outcome;
  });
  return { outcome: fitOutcome({ shown, bare: outcome }) };
}

/**
 * A batch never waits for boxoffice; the scan does, up to its patience. A medium is linked before the admission is stored:
 * if the process ends in between, the scan is sent again, and finds the medium linked.
 */
async function decide(deps: RedeemDeps, scan: ArrivedScan, wait: Wait): Promise<ScanOutcome> {
  const until = performance.now() + wait.patienceMs;
  const left = () => Math.max(until - performance.now(), leastPatienceMs);
  const again = (changes: Partial<ArrivedScan>) =>
    deps.batches.submit({ ...scan, mayBeNew: false, ...changes }, { ...wait, patienceMs: left() });
  let decided = await deps.batches.submit(scan, wait);
  if (decided === unknownYet) {
    const fetched = Promise.all(onEachList(scan).map(deps.unknownTickets.fetch));
    if (!(await isInTime(fetched, until))) return undecided;
    decided = await again({});
  }
  if (isOutcome(decided)) return decided;
  if (decided === unknownYet || scan.medium === null) return undecided;
  try {
    const answer = await deps.linkMedia.link(decided.toLink, left());
    const linked = await again({ medium: { ...scan.medium, answer } });
    return isOutcome(linked) ? linked : undecided;
  } catch (error) {
    deps.events.mediumNotLinked(scan, error);
    return undecided;
  }
}

function isOutcome(answer: Answer): answer is ScanOutcome {
  return answer !== unknownYet && !("toLink" in answer);
}

/** The patience that is left for conflicts after boxoffice has answered. */
const leastPatienceMs = 10;

/** Whether the work ends before that time; the work is not aborted. */
async function isInTime(work: Promise<unknown>, until: number): Promise<boolean> {
  const late = new AbortController();
  const isLate = setTimeout(Math.max(until - performance.now(), 0), false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), isLate]);
  late.abort();
  return inTime;
}
