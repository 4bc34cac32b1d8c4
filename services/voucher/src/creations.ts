import { runInContext } from "@tessera/kit/context";
import { type Choice, FairQueue } from "@tessera/kit/fair-queue";
import { isTransient } from "@tessera/kit/fault";
import { fault } from "./faults.ts";
import type { EventKey } from "./store/keys.ts";

/** Creates what several requests ask for in one event: for each what it gets, or why it is refused. */
export type CreateTogether<Asked, Created> = (
  place: EventKey,
  requests: readonly Asked[],
) => Promise<readonly Outcome<Created>[]>;

export type Outcome<Created> = { readonly created: Created } | { readonly refusal: Error };

/** A larger transaction would keep its first request waiting. */
const mostTogether = 64;

/** A few keep the database busy. More would take connections from other requests. */
const mostUnderWay = 3;

/** Requests of one organizer that may wait. */
const mostWaiting = 1000;

interface Waiting<Asked, Created> {
  readonly place: EventKey;
  readonly asked: Asked;
  readonly signal: AbortSignal;
  resolve(created: Created): void;
  reject(cause: unknown): void;
}

/** Requests that are served together with others. */
export interface Creations<Asked, Created> {
  create(place: EventKey, asked: Asked, signal: AbortSignal): Promise<Created>;
}

/**
 * Gathers requests: those for one event that arrive while a transaction of their organizer is under way go together in the
 * next one. Nothing waits for a timer. Organizers take turns, and have one transaction at a time, so a flood of one does
 * not delay the others.
 *
 * A refused request does not harm those beside it. When a transaction fails, each of its requests is tried alone.
 */
export function gatherCreations<Asked, Created>(
  createTogether: CreateTogether<Asked, Created>,
): Creations<Asked, Created> {
  const queue = new FairQueue<Waiting<Asked, Created>>();
  const busy = new Set<string>();
  let isPlanned = false;

  /** Lets every request that has arrived join before transactions begin. */
  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      // A transaction has requests of many callers: the deadline of one is not that of the others.
      runInContext({}, begin);
    });
  }

  function begin(): void {
    while (busy.size < mostUnderWay && queue.size > 0) {
      const batch = cutBatch();
      const [first] = batch;
      if (first === undefined) return;
      const { organizer } = first.place;
      busy.add(organizer);
      void serve(first.place, batch).finally(() => {
        busy.delete(organizer);
        plan();
      });
    }
  }

  function cutBatch(): Waiting<Asked, Created>[] {
    let place: EventKey | undefined;
    return queue.take(mostTogether, (waiting): Choice => {
      if (waiting.signal.aborted) {
        waiting.reject(waiting.signal.reason);
        return "drop";
      }
      if (busy.has(waiting.place.organizer)) return "leave";
      place ??= waiting.place;
      return waiting.place.organizer === place.organizer && waiting.place.event === place.event ? "take" : "leave";
    });
  }

  async function serve(place: EventKey, batch: readonly Waiting<Asked, Created>[]): Promise<void> {
    try {
      const outcomes = await createTogether(
        place,
        batch.map(({ asked }) => asked),
      );
      for (const [index, waiting] of batch.entries()) settle(waiting, outcomes[index]);
    } catch (error) {
      if (batch.length === 1 || isTransient(error)) for (const waiting of batch) waiting.reject(error);
      else for (const waiting of batch) await serve(place, [waiting]);
    }
  }

  return {
    create: (place, asked, signal) =>
      new Promise((resolve, reject) => {
        if (queue.sizeOf(place.organizer) >= mostWaiting) {
          const message = "More vouchers are asked for at once than can be created; send the request again.";
          return reject(fault("too_many_creations", message, { retryAfterMs: 1000 }));
        }
        queue.push(place.organizer, { place, asked, signal, resolve, reject });
        plan();
      }),
  };
}

function settle<Asked, Created>(waiting: Waiting<Asked, Created>, outcome: Outcome<Created> | undefined): void {
  if (outcome === undefined) waiting.reject(new Error("a request was left without an outcome"));
  else if ("refusal" in outcome) waiting.reject(outcome.refusal);
  else waiting.resolve(outcome.created);
}
