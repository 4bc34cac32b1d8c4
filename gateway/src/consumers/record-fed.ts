import { type Consumer, consume, type Fact } from "@tessera/kit/bus/consume";
import { Fault } from "@tessera/kit/fault";
import { pause } from "@tessera/kit/pause";
import { recordFeed } from "@tessera/protos/topics";
import { fault } from "../faults.ts";
import { type ImportTargets, importMessages } from "../import/import-stream.ts";
import type { LineError } from "../import/summary.ts";

/**
 * A record may refer to one that comes by another partition, an event to its organizer: a rejected record gets these
 * further chances, a few seconds in all.
 */
const usualPausesMs = [200, 800, 2000, 4000];

/**
 * The transaction that has recorded the messages waits meanwhile, and keeps others from the same ones. Postgres ends it
 * after a minute; what was still being sent then could land behind what another process has sent since.
 */
const longestMs = 40_000;

/** A list waits so long in all for what it refers to; where its items are later still, it gets its further chances. */
const settleMs = 5000;

export interface FeedDeps {
  readonly importTargets: ImportTargets;
  /** Aborts when this process is told to stop: what is under way comes again. */
  readonly stopping: AbortSignal;
}

/**
 * Takes the continuous feed as an import takes its lines. What stays rejected is parked with the reason, and the rest
 * goes on. Records are idempotent, so one whose effect was stored before its batch was committed may come again.
 */
export function takeRecords({ maxMs = longestMs, pausesMs = usualPausesMs } = {}): Consumer<FeedDeps> {
  return consume(recordFeed, async (_tx, facts, { importTargets: targets, stopping }: FeedDeps) => {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(maxMs)]);
    const take = takerOf(targets, { signal, stopping, isAlone: facts.length === 1 });
    const refusals = new Map<number, LineError>();
    let waiting = facts.map((_fact, place) => place);
    for (const pauseMs of [0, ...pausesMs]) {
      if (waiting.length === 0) break;
      await pause(pauseMs, signal);
      const sent = waiting;
      const errors = await take(sent.map((place) => facts[place]?.value ?? new Uint8Array()));
      for (const [index, place] of sent.entries()) {
        const error = errors.get(index);
        if (error === undefined) refusals.delete(place);
        else refusals.set(place, error);
      }
      if (refusals.size === 0) break;
      // What a later record about the same has replaced must not come behind it.
      const accepted = lastAccepted(facts, refusals);
      waiting = [...refusals.keys()]
        .filter((place) => (accepted.get(subjectOf(facts[place])) ?? -1) < place)
        .sort((a, b) => a - b);
    }
    return [...refusals].flatMap(([place, error]) => {
      const fact = facts[place];
      return fact === undefined ? [] : [{ fact, cause: describe(error) }];
    });
  });
}

export const recordFed = takeRecords();

/** The place of the last accepted record about each subject. */
function lastAccepted(
  facts: readonly Fact<Uint8Array>[],
  refusals: ReadonlyMap<number, LineError>,
): ReadonlyMap<string, number> {
  return new Map(facts.flatMap((fact, place) => (refusals.has(place) ? [] : [[subjectOf(fact), place] as const])));
}

function subjectOf(fact: Fact<Uint8Array> | undefined): string {
  return `${fact?.key} ${recordFeed.fromOutside?.subject(fact?.value ?? new Uint8Array())}`;
}

/**
 * An owner that is away comes back: the feed waits for it. One that answers and fails, or that answers some of many and
 * is not through in time, is asked for each record by itself: what it cannot digest is parked then, and the rest goes on.
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
      const isAway = signal.aborted ? stopping.aborted || isAlone || !hasAnswered : cause instanceof Fault;
      if (!isAway) throw new Error("the owner of the records cannot take them together", { cause });
      throw fault("owner_unavailable", "the owner of the records does not take them", { cause });
    }
  };
}

function describe(error: LineError): string {
  const fields = Object.entries(error.errors).map(([field, messages]) => `${field}: ${messages.join(" ")}`);
  return `${error.kind ?? "no record"}: ${fields.join("; ")}`.slice(0, 2000);
}
