import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Fact } from "@tessera/kit/bus/fact";
import { Fault } from "@tessera/kit/fault";
import { pause } from "@tessera/kit/waiting/pause";
import { recordFeed } from "@tessera/protos/topics";
import { fault } from "../faults.ts";
import { type ImportTargets, importMessages } from "../import/import-stream.ts";
import type { LineError } from "../import/summary.ts";

/**
 * The retries of a rejected record, a few seconds in total: it may refer to a record of another partition, for instance
 * an event to its organizer.
 */
const usualPausesMs = [200, 800, 2000, 4000];

/**
 * The transaction that recorded the messages stays open, so that no other process takes them. Postgres ends it after a
 * minute. A record still under way then could be applied after a newer one of another process.
 */
const longestMs = 40_000;

/** How long lists wait in total for what they refer to, before they are retried. */
const settleMs = 5000;

export interface FeedDeps {
  readonly importTargets: ImportTargets;
  /** Aborts when this process stops: messages in progress are delivered again. */
  readonly stopping: AbortSignal;
}

/**
 * Imports records from the continuous feed. A record that stays rejected is parked as a dead letter, and the others are
 * applied. Records are idempotent: an applied record comes again if its batch was not committed.
 */
export function takeRecords({ maxMs = longestMs, pausesMs = usualPausesMs } = {}): Consumer<FeedDeps> {
  return consume(recordFeed, async (_tx, facts, { importTargets: targets, stopping }: FeedDeps) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(maxMs)]);
    const take = takerOf(targets, { signal, stopping, isAlone: facts.length === 1 });
    const refusals = new Map<number, LineError>();
    let waiting = facts.map((_fact, index) => index);
    for (const pauseMs of [0, ...pausesMs]) {
      if (waiting.length === 0) break;
      await pause(pauseMs, signal);
      const sent = waiting;
      const errors = await take(sent.map((index) => facts[index]?.value ?? new Uint8Array()));
      for (const [at, index] of sent.entries()) {
        const error = errors.get(at);
        if (error === undefined) refusals.delete(index);
        else refusals.set(index, error);
      }
      if (refusals.size === 0) break;
      // A record must not be applied after a later one about the same subject.
      const accepted = lastAccepted(facts, refusals);
      waiting = [...refusals.keys()]
        .filter((index) => (accepted.get(subjectOf(facts[index])) ?? -1) < index)
        .sort((a, b) => a - b);
    }
    return [...refusals].flatMap(([index, error]) => {
      const fact = facts[index];
      return fact === undefined ? [] : [{ fact, cause: describe(error) }];
    });
  });
}

export const recordFed = takeRecords();

/** The index of the last accepted record about each subject. */
function lastAccepted(
  facts: readonly Fact<Uint8Array>[],
  refusals: ReadonlyMap<number, LineError>,
): ReadonlyMap<string, number> {
  return new Map(facts.flatMap((fact, index) => (refusals.has(index) ? [] : [[subjectOf(fact), index] as const])));
}

function subjectOf(fact: Fact<Uint8Array> | undefined): string {
  return `${fact?.key} ${recordFeed.fromOutside?.subject(fact?.value ?? new Uint8Array())}`;
}

/**
 * Waits for an unavailable owner. If the owner fails on a batch, or answers only a part in time, each record is sent
 * alone: a record that fails then, or times out, is parked, and the others are applied.
 */
function takerOf(
  targets: ImportTargets,
  { signal, stopping, isAlone }: { signal: AbortSignal; stopping: AbortSignal; isAlone: boolean },
): (messages: readonly Uint8Array[]) => Promise<Map<number, LineError>> {
  let hasAnswered = false;
  const onProgress = () => {
    hasAnswered = true;
  };
  return async (messages) => {
    try {
      return await importMessages(messages, targets, { signal, settleMs, onProgress });
    } catch (cause) {
      if (!signal.aborted && cause instanceof Fault && cause.kind !== "unavailable") throw cause;
      const isUnavailable = signal.aborted ? stopping.aborted || isAlone || !hasAnswered : cause instanceof Fault;
      if (!isUnavailable) throw new Error("the owner of the records cannot take them together", { cause });
      throw fault("owner_unavailable", "the owner of the records does not take them", { cause });
    }
  };
}

function describe(error: LineError): string {
  const fields = Object.entries(error.errors).map(([field, messages]) => `${field}: ${messages.join(" ")}`);
  return `${error.kind ?? "no record"}: ${fields.join("; ")}`.slice(0, 2000);
}
