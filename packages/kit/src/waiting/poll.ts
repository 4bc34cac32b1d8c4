import { backoff } from "./backoff.ts";
import { pause } from "./pause.ts";
import { waitAtMost } from "./wait-at-most.ts";

const pace = { firstMs: 5, longestMs: 250, factor: 1.5 };

/**
 * Repeats a question until the answer is yes, with growing pauses. A failed or late answer counts as no. Returns false
 * when the time is over, in milliseconds since 1970, or when the signal aborts.
 */
export async function poll(
  ask: () => Promise<boolean>,
  { until, signal }: { until: number; signal?: AbortSignal | undefined },
): Promise<boolean> {
  for (let asked = 1; Date.now() < until && !signal?.aborted; asked += 1) {
    const tooLate = () => new Error("no answer in time");
    if (await waitAtMost(until - Date.now(), ask(), tooLate).catch(() => false)) return true;
    await pause(Math.max(0, Math.min(backoff(pace, asked), until - Date.now())), signal);
  }
  return false;
}
