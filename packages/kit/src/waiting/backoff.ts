/** How pauses grow: each is `factor` times the one before (default 2), up to the longest. */
export interface Growth {
  readonly firstMs: number;
  readonly longestMs?: number;
  readonly factor?: number;
}

/** The pause after so many failures in a row. */
export function backoff(
  { firstMs, longestMs = Number.POSITIVE_INFINITY, factor = 2 }: Growth,
  failures: number,
): number {
  return Math.min(longestMs, firstMs * factor ** (failures - 1));
}
