import type { LoadResult } from "./load.ts";

const probeSeconds = 4;
export const heldSeconds = 20;

/** A rate is found to within this share of itself. */
const precision = 0.08;

/** A disk that stands still for a second, on a machine that others use, too, is no limit of the platform. */
const triesPerRate = 3;

/** Rates that are tried for the whole time. */
const mostRates = 4;

/**
 * Finds the highest rate of arrivals that is held for 20 seconds, with a p99 below a limit and nothing refused: it doubles the
 * rate until scans are late, halves the gap until it is small, and steps down until the rate is held for the whole time.
 * A rate is held if it is held once in three tries.
 *
 * Returns the rate with what the last try found, also where no rate was held.
 */
export async function findRate<R extends Pick<LoadResult, "p99" | "sent" | "tickets">>(
  run: (perSecond: number, seconds: number) => Promise<R>,
  { p99Ms }: { readonly p99Ms: number },
): Promise<{ readonly perSecond: number; readonly held: R }> {
  const attempt = async (rate: number, seconds: number) => {
    for (let tries = 1; ; tries += 1) {
      const result = await run(rate, seconds);
      const isHeld = result.p99 < p99Ms && result.tickets.length === result.sent;
      if (isHeld || tries === triesPerRate) return { isHeld, result };
    }
  };
  let [low, high] = [250, 500];
  while ((await attempt(high, probeSeconds)).isHeld) [low, high] = [high, high * 2];
  while (high / low > 1 + precision) {
    const middle = Math.sqrt(low * high);
    if ((await attempt(middle, probeSeconds)).isHeld) low = middle;
    else high = middle;
  }
  for (let rates = 1; ; rates += 1) {
    const { isHeld, result } = await attempt(low, heldSeconds);
    if (isHeld || rates === mostRates) return { perSecond: low, held: result };
    low *= 1 - precision / 2;
  }
}
