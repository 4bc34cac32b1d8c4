import type { LoadResult } from "./start-load.ts";

const probeSeconds = 4;
const heldSeconds = 20;

/** A rate is found to within this share of itself. */
const precision = 0.08;

/** A machine that others use, too, may miss any rate. */
const mostTries = 8;

/**
 * Finds the highest rate of arrivals that is held for 20 seconds, with a p99 below a limit and nothing refused: it doubles the
 * rate until scans are late, halves the gap until it is small, and steps down until the rate is held for the whole time.
 *
 * A rate is missed when it was missed twice: a pause of a second, for instance of a machine that others use, too, is no limit.
 */
export async function findRate(
  run: (perSecond: number, seconds: number) => Promise<Pick<LoadResult, "p99" | "sent" | "admitted">>,
  { p99Ms }: { readonly p99Ms: number },
): Promise<number> {
  const holdsOnce = async (rate: number, seconds: number) => {
    const { p99, sent, admitted } = await run(rate, seconds);
    return p99 < p99Ms && admitted === sent;
  };
  const holds = async (rate: number, seconds: number) =>
    (await holdsOnce(rate, seconds)) || (await holdsOnce(rate, seconds));
  let [low, high] = [250, 500];
  while (await holds(high, probeSeconds)) [low, high] = [high, high * 2];
  while (high / low > 1 + precision) {
    const middle = Math.sqrt(low * high);
    if (await holds(middle, probeSeconds)) low = middle;
    else high = middle;
  }
  for (let tries = 1; tries < mostTries && !(await holdsOnce(low, heldSeconds)); tries += 1) low *= 1 - precision / 2;
  return low;
}
