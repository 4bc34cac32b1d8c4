import type { Client } from "@tessera/kit/rpc";
import type { Quotas } from "@tessera/protos/services";
import type { OverbookedQuota } from "./tally.ts";

/** Events by organizer. */
export type Events = ReadonlyMap<string, ReadonlySet<string>>;

/** It is a report, which nobody waits for longer than for anything else that is asked. */
const longestMs = 5000;

/** Read at once by boxoffice, with all their quotas. */
const eventsPerCall = 200;

/** Whoever reads the answer wants to know that there are such quotas, and the first of them. */
const mostReported = 100;

/**
 * Finds the overbooked quotas of events, the first hundred of them. Returns null when that cannot be found out, or not
 * in time: what was imported stays.
 */
export async function findOverbooked(
  events: Events,
  { quotas, signal }: { quotas: Client<Quotas>; signal?: AbortSignal | undefined },
): Promise<readonly OverbookedQuota[] | null> {
  const places = sorted(events);
  const until = Date.now() + longestMs;
  const found: OverbookedQuota[] = [];
  try {
    for (let at = 0; at < places.length && found.length < mostReported; at += eventsPerCall) {
      const timeoutMs = Math.max(1, until - Date.now());
      const answer = await quotas.findOverbooked(
        { events: places.slice(at, at + eventsPerCall) },
        signal === undefined ? { timeoutMs } : { timeoutMs, signal },
      );
      found.push(
        ...answer.quotas.map(({ organizer, event, id, size, taken }) => ({ organizer, event, quota: id, size, taken })),
      );
    }
  } catch {
    signal?.throwIfAborted();
    return null;
  }
  return found.slice(0, mostReported);
}

/** In the order of the answers, so that the first of all are among the first that are asked about. */
function sorted(events: Events): { organizer: string; event: string }[] {
  return [...events.keys()]
    .sort()
    .flatMap((organizer) => [...(events.get(organizer) ?? [])].sort().map((event) => ({ organizer, event })));
}
