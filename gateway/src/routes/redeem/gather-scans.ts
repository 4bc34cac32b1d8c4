import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Scans } from "@tessera/protos/services";
import { fault } from "../../faults.ts";

/** Has one scan decided. */
export type RedeemScan = (scan: Scan) => Promise<ScanOutcome>;

/** A call larger than this is slower per scan: the statements behind it degrade. */
const largestBatch = 64;

/** One call is decided while the next one travels; a third would only split the batches. */
const mostInFlight = 2;

/** A call that takes longer has met a replica that is slow or down: the next call does not wait for it. */
const patienceMs = 500;

/** More scans than can be decided before their scanners give up are better refused at once. */
const longestQueue = 4096;

/** From a scan's arrival to its answer, retry included; scanners wait a little longer. */
const scanMs = 8000;

/** One call; what is left of a scan's time is for its retry. */
const callMs = 5000;

interface PendingScan {
  readonly scan: Scan;
  /** Milliseconds since 1970. */
  readonly until: number;
  resolve(outcome: ScanOutcome): void;
  reject(cause: Error): void;
}

/**
 * Gathers scans: those that arrive while calls are in flight go together in the
 * next one. Nothing waits for a timer, so a single scan is as fast as ever.
 *
 * When a call fails, some of its scans may have been stored. A scan with a nonce
 * is stored once however often it is sent, so it is tried once more, alone. Any
 * other scan must be sent again by its scanner.
 */
export function gatherScans(redeem: Client<Scans>["redeem"]): RedeemScan {
  const queue: PendingScan[] = [];
  let inFlight = 0;

  function send(): void {
    while (inFlight < mostInFlight && queue.length > 0) {
      const batch = queue.splice(0, largestBatch).filter(isInTime);
      if (batch.length === 0) continue;
      inFlight += 1;
      let counts = true;
      const makeWay = () => {
        if (!counts) return;
        counts = false;
        inFlight -= 1;
        send();
      };
      const timer = setTimeout(makeWay, patienceMs);
      void decide(batch).finally(() => {
        clearTimeout(timer);
        makeWay();
      });
    }
  }

  async function decide(batch: readonly PendingScan[]): Promise<void> {
    try {
      const outcomes = await call(batch);
      // One by one: the retries of a few do not hold up the next batch.
      for (const [index, waiting] of batch.entries()) void answer(waiting, outcomes[index]);
    } catch (error) {
      for (const waiting of batch) void retry(waiting, error);
    }
  }

  async function call(batch: readonly PendingScan[]): Promise<ScanOutcome[]> {
    const timeoutMs = Math.min(callMs, Math.max(...batch.map(({ until }) => until)) - Date.now());
    const { outcomes } = await redeem({ scans: batch.map(({ scan }) => scan) }, { timeoutMs });
    if (outcomes.length !== batch.length)
      throw new Error(`checkin decided ${outcomes.length} scans of ${batch.length}`);
    return outcomes;
  }

  async function answer(waiting: PendingScan, outcome: ScanOutcome | undefined): Promise<void> {
    if (outcome?.outcome === undefined || outcome.outcome.$case === "failed") await retry(waiting, undefined);
    else waiting.resolve(outcome);
  }

  async function retry(waiting: PendingScan, cause: unknown): Promise<void> {
    // Refused before it was looked at, and sending it again would only add to the load.
    if (cause instanceof Fault && cause.kind === "exhausted") return waiting.reject(overloaded());
    if (waiting.scan.nonce === undefined) return waiting.reject(undecided(cause));
    if (!isInTime(waiting)) return;
    try {
      const [outcome] = await call([waiting]);
      if (outcome?.outcome === undefined || outcome.outcome.$case === "failed") waiting.reject(undecided(cause));
      else waiting.resolve(outcome);
    } catch (error) {
      waiting.reject(undecided(error));
    }
  }

  return (scan) =>
    new Promise((resolve, reject) => {
      if (queue.length >= longestQueue) return reject(overloaded());
      // A call that carries younger scans, or one in front of it in the queue, may outlast this one's time.
      const timer = setTimeout(() => reject(undecided()), scanMs);
      queue.push({
        scan,
        until: Date.now() + scanMs,
        resolve(outcome) {
          clearTimeout(timer);
          resolve(outcome);
        },
        reject(cause) {
          clearTimeout(timer);
          reject(cause);
        },
      });
      send();
    });
}

/** Whether the caller still waits for a scan; if not, it is refused without having been sent. */
function isInTime(waiting: PendingScan): boolean {
  if (waiting.until > Date.now()) return true;
  waiting.reject(undecided());
  return false;
}

/** No decision was made: the scanner may repeat the scan. */
export function undecided(cause?: unknown): Fault {
  return fault("scan_undecided", "This scan could not be decided now; send it again.", {
    retryAfterMs: 1000,
    cause,
  });
}

function overloaded(): Fault {
  return fault("too_many_redeems", "More scans are waiting than can be decided; send it again.", {
    retryAfterMs: 1000,
  });
}
