import { setTimeout } from "node:timers/promises";
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
import { type Batches, type BatchesOptions, createBatches } from "./batches.ts";
import { decideBatch } from "./decide-batch.ts";
import { unknownYet } from "./decision.ts";
import { expandOutcomes } from "./expand-outcomes.ts";
import { fitOutcomes } from "./fit-outcomes.ts";
import { failed, undecided } from "./outcome.ts";
import type { Wait } from "./queued-scan.ts";

export interface RedeemDeps {
  /** Connections that only scans use. */
  readonly urgent: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  readonly batches: Batches;
  /** Fetches tickets that were sold so lately that they are not known here yet. */
  readonly unknownTickets: UnknownTickets;
}

/** Longer ones cannot be indexed; the gateway refuses them with a better answer. */
const longestNonce = 190;

/** As long as another transaction may lock a ticket or a list, and less than a gateway waits. */
const longestPatienceMs = 3000;

/** Opens the batches in which this process decides the scans of all its callers, by `decideBatch`. */
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
    decide: (scans, isAwaited) => decideBatch({ db: urgent, events, readers }, { scans, isAwaited }),
    onFailure: (error, scans) => events.scansFailed(error, scans),
    ...sizes,
  });
}

/** Decides scans, together with those of other callers. */
export async function redeem(
  { scans, patienceMs = longestPatienceMs }: RedeemRequest,
  deps: RedeemDeps,
  { signal, deadline }: Pick<Call, "signal" | "deadline">,
): Promise<RedeemResponse> {
  const { urgent, clock, events, unknownTickets } = deps;
  const patience = Math.min(patienceMs, longestPatienceMs);
  const [now, arrivedAt] = [clock.now(), performance.now()];
  const { traceparent } = currentContext();
  const decidable = scans.filter(({ nonce = "" }) => nonce.length <= longestNonce || [...nonce].length <= longestNonce);
  for (const scan of decidable) {
    const seconds = secondsAhead({ at: scan.at ?? now, now });
    if (seconds !== undefined) events.scanAhead(scan, { seconds });
  }
  const arrived = decidable.map((scan) =>
    toArrivedScan(scan, { now, arrivedAt, traceparent, mayBeNew: unknownTickets.mayBeAsked(scan) }),
  );
  const decided = await decide(deps, arrived, { signal, deadline, patienceMs: patience });
  const outcomeOf = new Map(decidable.map((scan, index) => [scan, decided[index]]));
  const outcomes = scans.map((scan) => outcomeOf.get(scan) ?? failed);
  for (const [index, scan] of scans.entries()) events.scanDecided(scan, outcomes[index] ?? failed);
  try {
    return { outcomes: fitOutcomes(await expandOutcomes(urgent, { scans, outcomes })) };
  } catch (error) {
    // The decisions are stored, even if they can be shown by ids alone.
    events.notExpanded(error);
    return { outcomes: fitOutcomes(outcomes.map((shown) => ({ bare: shown, shown }))) };
  }
}

/** While boxoffice is asked no batch waits; the call waits no longer than its patience. */
async function decide(
  { batches, unknownTickets }: RedeemDeps,
  scans: readonly ArrivedScan[],
  wait: Wait,
): Promise<ScanOutcome[]> {
  const until = performance.now() + wait.patienceMs;
  const answers = await batches.submit(scans, wait);
  const unknown = scans.filter((_, index) => answers[index] === unknownYet);
  if (unknown.length > 0) {
    const wasAsked = await isInTime(unknownTickets.fetch(unknown), until);
    const again = wasAsked
      ? await batches.submit(
          unknown.map((scan) => ({ ...scan, mayBeNew: false })),
          { ...wait, patienceMs: Math.max(until - performance.now(), leastPatienceMs) },
        )
      : unknown.map(() => undecided);
    for (const [order, scan] of unknown.entries()) answers[scans.indexOf(scan)] = again[order] ?? failed;
  }
  return answers.map((answer) => (answer === unknownYet ? failed : answer));
}

/** After boxoffice has answered a scan may meet other changes of its ticket at least for so long. */
const leastPatienceMs = 10;

/** Whether work ends before that time; it goes on in any case. */
async function isInTime(work: Promise<void>, until: number): Promise<boolean> {
  const late = new AbortController();
  const isLate = setTimeout(Math.max(until - performance.now(), 0), false, { signal: late.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), isLate]);
  late.abort();
  return inTime;
}
