import type { Festival } from "./festival.ts";
import type { Noise } from "./make-noise.ts";
import { beside, percentile, summarize, visit } from "./neighbour.ts";
import { operatorKey } from "./platform-process.ts";
import { report } from "./seeded.ts";

export interface Measured {
  /** The time of 99 of 100 scans beside the noise, in parts of what is allowed: twice that of a quiet time, and 50 ms. */
  readonly ofLimit: number;
  /** What was refused beside the noise. */
  readonly refused: readonly string[];
  /** The number of requests and connections that made the noise. */
  readonly shots: number;
}

/** Measures an organizer alone, and then beside one that does its worst. */
export async function measureBeside({
  noise,
  baseUrls,
  festival,
  volume = 1,
}: {
  readonly noise: Noise;
  readonly baseUrls: readonly string[];
  readonly festival: Festival;
  readonly volume?: number;
}): Promise<Measured> {
  const quiet = await visit({ baseUrls, festival, ms: 4000 });
  const { found, results } = await beside({ noise, target: { baseUrls, operatorKey, volume } }, () =>
    visit({ baseUrls, festival, ms: 6000 }),
  );
  report({ noise, results, quiet: summarize(quiet), beside: summarize(found) });
  return {
    ofLimit: percentile(found.scans, 0.99) / (2 * percentile(quiet.scans, 0.99) + 50),
    refused: found.refused,
    shots: Object.values(results).reduce((sum, count) => sum + count, 0),
  };
}
