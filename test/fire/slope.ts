import { quantile } from "@tessera/cli/simulate/quantile";

export interface Sample {
  /** In milliseconds. */
  readonly at: number;
  readonly value: number;
}

/**
 * How much a measurement grows over the time of its samples, by the median of the slopes between all pairs of them: a few
 * peaks do not change it.
 */
export function growthOf(samples: readonly Sample[]): number {
  const slopes: number[] = [];
  for (const [index, first] of samples.entries())
    for (const second of samples.slice(index + 1))
      if (second.at > first.at) slopes.push((second.value - first.value) / (second.at - first.at));
  const [start, end] = [samples[0], samples.at(-1)];
  if (start === undefined || end === undefined || slopes.length === 0) return 0;
  return quantile(slopes, 0.5) * (end.at - start.at);
}
