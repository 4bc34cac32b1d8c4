/** How pauses grow: each is `factor` times the one before, twice where nothing is said, until the longest is reached. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs?: number;
  readonly factor?: number;
}

/** Returns how long to pause after that many failures in a row. */
export function backoff(
  { firstMs, longestMs = Number.POSITIVE_INFINITY, factor = 2 }: Growth,
  failures: number,
): number {
  return Math.min(longestMs, firstMs * factor ** (failures - 1));
}
