import type { CallOptions, Client } from "@tessera/kit/rpc";
import type { EventReference } from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import type { Quotas, Tickets } from "@tessera/protos/services";
import type { AmbiguousSecret, OverbookedQuota } from "./summary.ts";

/** Called at the end of an import, to report conflicts. The records are stored in any case. */
export interface ConflictFinders {
  readonly quotas: Pick<Client<Quotas>, "findOverbooked">;
  readonly tickets: Pick<Client<Tickets>, "findAmbiguousSecrets">;
}

/** The timeout of this report. */
const longestMs = 5000;

/** Events per call of boxoffice. */
const eventsPerCall = 200;

/** Enough to show what is wrong. A complete list could be as long as the import. */
const mostReported = 100;

export type EventSet = Set<string>;

/** The name of an event. Names sort by organizer, then by event: no slug contains a control character. */
export function nameEvent({ organizer, event }: EventReference): string {
  return `${organizer}\0${event}`;
}

export function findOverbooked(
  events: EventSet,
  { quotas, signal }: Pick<ConflictFinders, "quotas"> & { readonly signal: AbortSignal | undefined },
): Promise<OverbookedQuota[] | null> {
  return findInEvents(events, signal, async (asked, options) => {
    const answer = await quotas.findOverbooked({ events: asked }, options);
    return answer.quotas.map(({ organizer, event, id, size, taken }) => ({ organizer, event, quota: id, size, taken }));
  });
}

export function findAmbiguousSecrets(
  events: EventSet,
  { tickets, signal }: Pick<ConflictFinders, "tickets"> & { readonly signal: AbortSignal | undefined },
): Promise<AmbiguousSecret[] | null> {
  return findInEvents(events, signal, async (asked, options) => {
    const { secrets } = await tickets.findAmbiguousSecrets({ events: asked }, options);
    return secrets.map(({ organizer, event, count, positions }) => ({
      organizer,
      event,
      count,
      positions: positions.map(({ id, orderCode }) => ({ order: orderCode, id })),
    }));
  });
}

/** Returns the first hundred conflicts in events; null: they could not be read in time. */
async function findInEvents<T>(
  events: EventSet,
  signal: AbortSignal | undefined,
  find: (events: EventReference[], options: CallOptions) => Promise<readonly T[]>,
): Promise<T[] | null> {
  // Sorted like the answers, so that the first events have the first conflicts.
  const sorted = [...events].toSorted().map((name) => {
    const [organizer = "", event = ""] = name.split("\0");
    return { organizer, event };
  });
  const until = Date.now() + longestMs;
  const found: T[] = [];
  try {
    for (let at = 0; at < sorted.length && found.length < mostReported; at += eventsPerCall) {
      const timeoutMs = Math.max(1, until - Date.now());
      found.push(...(await find(sorted.slice(at, at + eventsPerCall), { timeoutMs, signal })));
    }
  } catch {
    signal?.throwIfAborted();
    return null;
  }
  return found.slice(0, mostReported);
}
