import type { ArrivedScan } from "@tessera/admission";
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
import type { CheckinEvents } from "../../report-events.ts";
import type { ListPlaces } from "../list-places.ts";
import { type ArrivalDeps, arrive } from "./arrive.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";
import { type AskFirstDeps, askFirst, leastMs } from "./ask-first.ts";
import type { BatchesOptions } from "./batch-options.ts";
import { type Batches, createBatches } from "./batches.ts";
import type { CheckinReaders } from "./checkin-readers.ts";
import { decideBatch } from "./decide-batch.ts";
import { isOutcome } from "./decision.ts";
import { expandOutcome } from "./expand-outcome.ts";
import { fitOutcome } from "./fit-outcome.ts";
import { undecided } from "./outcome.ts";
import type { Wait } from "./queued-scan.ts";

export interface RedeemDeps extends AskFirstDeps, ArrivalDeps {
  /** A connection pool for scans alone. */
  readonly urgent: Db;
  readonly events: CheckinEvents;
  readonly unknownTickets: UnknownTickets;
  readonly batches: Batches;
  readonly listPlaces: ListPlaces;
}

/** As long as another transaction may lock a ticket or a list, and less than the gateway waits. */
export const patienceMs = 3000;

/** Opens the batches in which this process decides the scans of all its callers. */
export function openBatches({
  urgent,
  events,
  readers,
  ...sizes
}: Pick<RedeemDeps, "urgent" | "events"> & { readonly readers: CheckinReaders } & Pick<
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
  const { urgent, events } = deps;
  const arrived = arrive(scan, { others }, deps);
  if (arrived === undefined) return { outcome: undecided };
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

/** `decideBatch` decides the scan together with others. A batch never waits for boxoffice; the scan does, up to its patience. */
async function decide(deps: RedeemDeps, scan: ArrivedScan, wait: Wait): Promise<ScanOutcome> {
  const until = performance.now() + wait.patienceMs;
  for (let asked: ArrivedScan | undefined = scan; asked !== undefined; ) {
    const left = Math.max(until - performance.now(), leastMs);
    const decided = await deps.batches.submit(asked, { ...wait, patienceMs: left });
    if (isOutcome(decided)) return decided;
    asked = await askFirst(deps, { scan: asked, needs: decided, until });
  }
  return undecided;
}
