import { operatorKey } from "../e2e/sample-records.ts";
import type { Festival } from "./festival.ts";
import type { Noise } from "./make-noise.ts";
import { beside, percentile, type Seen, summarize, visit } from "./neighbour.ts";
import { report } from "./seeded.ts";

export interface Measured {
  /** The time of scans beside the noise, in parts of what is allowed. The worse of all shares counts. */
  readonly ofLimit: number;
  /** What was refused beside the noise. */
  readonly refused: readonly string[];
  /** The number of requests and connections that made the noise. */
  readonly shots: number;
}

/**
 * What is allowed beside the noise: twice the time of a quiet minute, and so many milliseconds, for such a share of the
 * scans. The slowest 1 % of some hundred scans is four of them: too few to decide by.
 */
const allowances = [
  { share: 0.5, ms: 50 },
  { share: 0.95, ms: 100 },
];

/** Measures an organizer alone. */
export function measureQuiet(target: { readonly baseUrls: readonly string[]; readonly festival: Festival }) {
  return visit({ ...target, ms: 3000 });
}

/** Measures an organizer beside one that does its worst, and compares it with what was measured alone. */
export async function measureBeside({
  noise,
  quiet,
  baseUrls,
  festival,
  volume,
}: {
  readonly noise: Noise;
  readonly quiet: Seen;
  readonly baseUrls: readonly string[];
  readonly festival: Festival;
  readonly volume: number;
}): Promise<Measured> {
  const { found, results } = await beside({ noise, target: { baseUrls, operatorKey, volume } }, () =>
    visit({ baseUrls, festival, ms: 4500 }),
  );
  report({ noise, results, quiet: summarize(quiet), beside: summarize(found) });
  return {
    ofLimit: Math.max(
      ...allowances.map(({ share, ms }) => percentile(found.scans, share) / (2 * percentile(quiet.scans, share) + ms)),
    ),
    refused: found.refused,
    shots: Object.values(results).reduce((sum, count) => sum + count, 0),
  };
}
