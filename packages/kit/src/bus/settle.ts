import type { FactsServiceService, MarkFactsResponse } from "@tessera/protos/gen/platform/v1/facts";
import type { Client } from "../rpc.ts";
import { poll } from "../waiting/poll.ts";

type Facts = Client<typeof FactsServiceService>;

/** Asks one service whether its consumers have passed a marker. */
export type CaughtUp = Facts["caughtUp"];

export interface SettleOptions {
  /** The service that publishes the facts. */
  readonly owner: Pick<Facts, "markFacts">;
  readonly readers: readonly CaughtUp[];
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until every reader has consumed the facts that an owner has published so far. Returns false if that takes too
 * long. A call that fails is repeated: a busy service answers a moment later.
 */
export async function settle({ owner, readers, until, signal }: SettleOptions): Promise<boolean> {
  let mark: MarkFactsResponse | undefined;
  const hasMarked = async () => {
    mark = await owner.markFacts({}, callOptions(until, signal));
    return true;
  };
  await poll(hasMarked, { until, signal });
  signal?.throwIfAborted();
  const marked = mark;
  // The applied records are durable; the answer reports that it is unknown when they become visible.
  if (marked === undefined) return false;
  const hasCaughtUp = async (reader: CaughtUp) => (await reader(marked, callOptions(until, signal))).caughtUp;
  const settled = await Promise.all(readers.map((reader) => poll(() => hasCaughtUp(reader), { until, signal })));
  signal?.throwIfAborted();
  return settled.every(Boolean);
}

function callOptions(until: number, signal: AbortSignal | undefined) {
  return { timeoutMs: Math.max(1, until - Date.now()), signal };
}
