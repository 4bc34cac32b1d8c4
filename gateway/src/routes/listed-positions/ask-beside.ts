import { backoff } from "@tessera/kit/waiting/backoff";
import type { Incoming } from "../../http/route.ts";

export type Asking = Pick<Incoming, "organizer" | "event" | "url" | "inEvent">;

/** Asks for something of tickets. */
export type AskFor<T> = (request: Asking, positions: readonly number[]) => Promise<T>;

/** Concurrent requests of one process, and of one organizer; further ones are not sent. */
interface AskLimits {
  readonly mostAtOnce: number;
  readonly mostOfOne: number;
}

/** After this many consecutive failures the circuit breaker of the organizer opens. */
const mostFailures = 3;

/** How long it stays open until the next probe. */
const rests = { firstMs: 1000, longestMs: 30_000 };

/** The circuit breaker of an organizer. */
interface Experience {
  asking: number;
  failures: number;
  /** On the clock of the process. */
  restsUntil: number;
}

/**
 * Asks another service for what is shown beside tickets. Scans come first: `ask` gives up soon, and without its answer, as
 * beyond the limit of concurrent requests, there is `nothing`. While the circuit breaker is open no scan waits: probes are
 * sent whose answers no request needs.
 */
export function askBeside<T>(
  ask: AskFor<T>,
  { nothing, mostAtOnce, mostOfOne }: AskLimits & { readonly nothing: T },
): AskFor<T> {
  const experiences = new Map<string, Experience>();
  let asking = 0;

  async function attempt(one: Experience, request: Asking, positions: readonly number[]): Promise<T> {
    asking += 1;
    one.asking += 1;
    try {
      const answer = await ask(request, positions);
      one.failures = 0;
      return answer;
    } catch {
      one.failures += 1;
      const over = one.failures - mostFailures;
      if (over >= 0) one.restsUntil = performance.now() + backoff(rests, over + 1);
      return nothing;
    } finally {
      asking -= 1;
      one.asking -= 1;
      // The initial state need not be stored.
      if (one.asking === 0 && one.failures === 0) experiences.delete(request.organizer);
    }
  }

  return async (request, positions) => {
    if (positions.length === 0) return nothing;
    const one = experiences.get(request.organizer) ?? { asking: 0, failures: 0, restsUntil: 0 };
    if (asking >= mostAtOnce || one.asking >= mostOfOne) return nothing;
    experiences.set(request.organizer, one);
    if (one.failures < mostFailures) return attempt(one, request, positions);
    if (one.asking === 0 && performance.now() >= one.restsUntil) void attempt(one, request, positions);
    return nothing;
  };
}
