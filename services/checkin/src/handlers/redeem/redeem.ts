import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Db } from "@tessera/kit/pg/database";
import type { Call } from "@tessera/kit/rpc";
import type { RedeemRequest, RedeemResponse, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import { secondsAhead } from "../../domain/seconds-ahead.ts";
import type { CheckinEvents } from "../../events.ts";
import type { Readers } from "../../readers.ts";
import { toArrivedScan } from "../../wire/scans.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";
import { decideBatch } from "./decide-batch.ts";
import { expandOutcomes } from "./expand-outcomes.ts";
import { createLanes, type Lanes, type LanesOptions, unknownYet } from "./lanes.ts";
import { failed } from "./outcome.ts";

export interface RedeemDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  readonly lanes: Lanes;
  /** Fetches tickets that were sold so lately that they are not known here yet. */
  readonly unknownTickets: UnknownTickets;
}

/** Longer ones cannot be indexed; the gateway refuses them with a better answer. */
const longestNonce = 190;

/** As long as another transaction may lock a ticket or a list, and less than a gateway waits. */
const patienceMs = 3000;

/** Opens the lanes in which this process decides the scans of all its callers, by `decideBatch`. */
export function openLanes({
  db,
  events,
  readers,
  ...sizes
}: Pick<RedeemDeps, "db" | "events"> & { readonly readers: Readers } & Pick<
    LanesOptions,
    "lanes" | "batchSize" | "longestQueue"
  >): Lanes {
  return createLanes({
    decide: (scans) => decideBatch({ db, events, readers }, scans),
    onFailure: (error, scans) => events.scansFailed(error, scans),
    patienceMs,
    ...sizes,
  });
}

/** Decides scans, together with those of other callers. */
export async function redeem(
  { scans }: RedeemRequest,
  deps: RedeemDeps,
  { signal }: Pick<Call, "signal">,
): Promise<RedeemResponse> {
  const { db, clock, events, unknownTickets } = deps;
  const now = clock.now();
  const arrival = { now, traceparent: currentContext().traceparent, mayBeNew: unknownTickets.isOpen() };
  const decidable = scans.filter((scan) => [...(scan.nonce ?? "")].length <= longestNonce);
  for (const scan of decidable) {
    const seconds = secondsAhead({ at: scan.at ?? now, now });
    if (seconds !== undefined) events.scanAhead(scan, { seconds });
  }
  const decided = await decide(
    deps,
    decidable.map((scan) => toArrivedScan(scan, arrival)),
    signal,
  );
  const outcomeOf = new Map(decidable.map((scan, index) => [scan, decided[index]]));
  const outcomes = scans.map((scan) => outcomeOf.get(scan) ?? failed);
  for (const [index, scan] of scans.entries()) events.scanDecided(scan, outcomes[index] ?? failed);
  try {
    return { outcomes: await expandOutcomes(db, { scans, outcomes }) };
  } catch (error) {
    // The decisions are stored, even if they can be shown by ids alone.
    events.notExpanded(error);
    return { outcomes };
  }
}

/** While boxoffice is asked no batch waits, only the scans that came in the same call. */
async function decide(
  { lanes, unknownTickets }: RedeemDeps,
  scans: readonly ArrivedScan[],
  signal: AbortSignal,
): Promise<ScanOutcome[]> {
  const answers = await lanes.submit(scans, signal);
  const unknown = scans.filter((_, index) => answers[index] === unknownYet);
  if (unknown.length > 0) {
    await unknownTickets.fetch(unknown);
    const again = await lanes.submit(
      unknown.map((scan) => ({ ...scan, mayBeNew: false })),
      signal,
    );
    for (const [order, scan] of unknown.entries()) answers[scans.indexOf(scan)] = again[order] ?? failed;
  }
  return answers.map((answer) => (answer === unknownYet ? failed : answer));
}
