import { Counts } from "@tessera/kit/counts";
import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { Scans } from "@tessera/protos/services";
import type { Pace } from "./pace.ts";
import { isInTime, isTooLarge, overloaded, type PendingScan, tooLarge, undecided, withAge } from "./pending-scan.ts";
import { shareDocuments } from "./share-documents.ts";
import type { Standstill } from "./standstill.ts";

/** Scans that are held back for longer return undecided, so that those that came with them are answered. */
const heldBackMs = 50;

/** Longer than the service itself waits for a scan that is held back. */
const heldBackAloneMs = 3000;

/** Scans of one organizer that are held back, each in a call of its own. */
const mostAlone = 128;

/** Outcomes without a decision. */
const withoutDecision: ReadonlySet<string> = new Set(["failed", "undecided", "crowded"]);

/** One call; what is left of a scan's time is for its retry. */
const callMs = 5000;

/**
 * The calls that have scans decided.
 *
 * When a call fails, some of its scans may have been stored. A scan with a nonce is stored once however often it is sent, so
 * it is tried once more, alone. A scan that is held back is not stored; it is sent again apart from the rest.
 */
export class ScanCalls {
  readonly #redeem: Client<Scans>["redeem"];
  readonly #pace: Pace;
  readonly #standstill: Pick<Standstill, "untilKnown">;
  /** By organizer. */
  readonly #alone = new Counts();

  constructor(
    redeem: Client<Scans>["redeem"],
    { pace, standstill }: { readonly pace: Pace; readonly standstill: Pick<Standstill, "untilKnown"> },
  ) {
    this.#redeem = redeem;
    this.#pace = pace;
    this.#standstill = standstill;
  }

  /** Has scans decided by one call. Those that need another one are answered later. */
  async decide(batch: readonly PendingScan[]): Promise<void> {
    try {
      const outcomes = await this.#call(batch, heldBackMs);
      // One by one: the retries of a few do not hold up the next batch.
      for (const [index, waiting] of batch.entries()) void this.#settle(waiting, outcomes[index]);
    } catch (error) {
      const isDivisible = batch.length > 1 && isTooLarge(error);
      for (const waiting of batch) void (isDivisible ? this.#sendAlone(waiting) : this.#retry(waiting, error));
    }
  }

  async #call(batch: readonly PendingScan[], heldBack: number): Promise<ScanOutcome[]> {
    const timeoutMs = Math.min(callMs, Math.max(...batch.map(({ until }) => until)) - Date.now());
    const scans = batch.map(withAge);
    // A scan that is held back travels alone and beside the others: it says nothing of their pace.
    const timed = heldBack === heldBackMs ? this.#pace.begin(scans.length) : undefined;
    const { outcomes } = await this.#redeem({ scans, patienceMs: heldBack }, { timeoutMs }).catch((error: unknown) => {
      timed?.fail();
      throw error;
    });
    timed?.end();
    if (outcomes.length !== batch.length)
      throw new Error(`checkin decided ${outcomes.length} scans of ${batch.length}`);
    return shareDocuments(outcomes);
  }

  #settle(waiting: PendingScan, outcome: ScanOutcome | undefined): Promise<void> | undefined {
    switch (outcome?.outcome?.$case) {
      case undefined:
      case "failed":
        return this.#retry(waiting, undefined);
      case "undecided":
        return this.#sendAlone(waiting);
      case "crowded":
        waiting.reject(overloaded());
        return undefined;
      default:
        waiting.resolve(outcome as ScanOutcome);
        return undefined;
    }
  }

  /** It was held back, and nothing is stored: it waits for its ticket without others. */
  async #sendAlone(waiting: PendingScan): Promise<void> {
    const { organizer } = waiting.scan;
    if (this.#alone.of(organizer) >= mostAlone) return waiting.reject(overloaded());
    this.#alone.add(organizer, 1);
    try {
      while (await this.#isInTime(waiting)) {
        const [outcome] = await this.#call([waiting], heldBackAloneMs);
        if (outcome?.outcome?.$case !== "undecided") return await this.#settle(waiting, outcome);
      }
    } catch (error) {
      await this.#retry(waiting, error);
    } finally {
      this.#alone.add(organizer, -1);
    }
  }

  async #retry(waiting: PendingScan, cause: unknown): Promise<void> {
    if (isTooLarge(cause)) return waiting.reject(tooLarge());
    // Refused before it was looked at, and sending it again would only add to the load.
    if (cause instanceof Fault && cause.kind === "exhausted") return waiting.reject(overloaded());
    if (waiting.scan.nonce === undefined) return waiting.reject(undecided(cause));
    if (!(await this.#isInTime(waiting))) return;
    try {
      const [outcome] = await this.#call([waiting], heldBackAloneMs);
      const verdict = outcome?.outcome?.$case;
      // The first call may have stored it: an answer that it was refused unseen would not be true.
      if (verdict === undefined || withoutDecision.has(verdict)) waiting.reject(undecided(cause));
      else await this.#settle(waiting, outcome);
    } catch (error) {
      waiting.reject(undecided(error));
    }
  }

  /** Whether its scanner still waits for a scan that is to be sent again; if not, it is refused. */
  async #isInTime(waiting: PendingScan): Promise<boolean> {
    await this.#standstill.untilKnown();
    return isInTime(waiting);
  }
}
