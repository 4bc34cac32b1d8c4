import type { Clock } from "@tessera/kit/clock";
import { currentContext } from "@tessera/kit/context";
import type { Db } from "@tessera/kit/pg/database";
import type { Handler } from "@tessera/kit/rpc";
import type { RedeemRequest, RedeemResponse, Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { secondsAhead } from "../domain/seconds-ahead.ts";
import type { CheckinEvents } from "../events.ts";
import type { TicketAsker } from "./ask-for-tickets.ts";
import { expandOutcomes } from "./expand-outcomes.ts";
import type { ArrivedScan } from "./read-and-decide.ts";
import { decideScans } from "./redeem.ts";
import { createBatcher } from "./redeem-batcher.ts";
import { failed, notHere } from "./scan-outcomes.ts";

export interface RedeemOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: CheckinEvents;
  /** Fetches tickets that were sold so lately that they are not here yet. */
  readonly strangers: TicketAsker;
  readonly lanes: number;
  readonly batchSize: number;
  readonly longestQueue: number;
}

/** Longer ones cannot be indexed; the gateway refuses them with a better answer. */
const longestNonce = 190;

/** As long as anybody may hold a ticket or a list, and less than a gateway waits. */
const patienceMs = 3000;

/** Answers Redeem: scans of all callers are decided together. */
export function redeemTogether(options: RedeemOptions): Handler<RedeemRequest, RedeemResponse> {
  const { db, clock, events } = options;
  const batcher = createBatcher<ArrivedScan, ScanOutcome>({
    decide: (scans) => decideScans({ db, events }, scans),
    // Scans of one ticket do not get into each other's way, at least within a process.
    keyOf: ({ scan }) => scan.lookup,
    failed,
    onFailure: (error, scans) => events.scansFailed(error, scans),
    lanes: options.lanes,
    batchSize: options.batchSize,
    longestQueue: options.longestQueue,
    patienceMs,
  });

  function arrive(scan: Scan): ArrivedScan {
    const now = clock.now();
    const at = scan.at ?? now;
    const seconds = secondsAhead({ at, now });
    if (seconds !== undefined) events.scanAhead(scan, { seconds });
    return { scan, at, traceparent: currentContext().traceparent, mayBeNew: options.strangers.isOpen() };
  }

  /** While somebody is asked no batch waits, only those who came in the same call. */
  async function decide(scans: readonly ArrivedScan[], signal: AbortSignal): Promise<ScanOutcome[]> {
    const outcomes = await batcher.submit(scans, signal);
    const strangers = scans.filter((_, index) => outcomes[index] === notHere);
    if (strangers.length === 0) return outcomes;
    await options.strangers.ask(strangers.map(({ scan }) => scan));
    const decided = await batcher.submit(
      strangers.map((scan) => ({ ...scan, mayBeNew: false })),
      signal,
    );
    const outcomeOf = new Map(strangers.map((scan, index) => [scan, decided[index]]));
    return scans.map((scan, index) => outcomeOf.get(scan) ?? outcomes[index] ?? failed);
  }

  return async ({ scans }, { signal }) => {
    const decidable = scans.filter((scan) => [...(scan.nonce ?? "")].length <= longestNonce);
    const decided = await decide(decidable.map(arrive), signal);
    const outcomeOf = new Map(decidable.map((scan, index) => [scan, decided[index]]));
    const outcomes = scans.map((scan) => outcomeOf.get(scan) ?? failed);
    for (const [index, scan] of scans.entries()) events.scanDecided(scan, outcomes[index] ?? failed);
    try {
      return { outcomes: await expandOutcomes(db, { scans, outcomes }) };
    } catch (error) {
      // What was decided stays so, even if it can be shown by ids alone.
      events.notExpanded(error);
      return { outcomes };
    }
  };
}
