export const header = {
  factId: "fact-id",
  /** Microseconds since 1970: when the fact was written. */
  at: "fact-at",
  /** When the fact was written again: a rebuild publishes old facts under their old `fact-at`. */
  writtenAt: "written-at",
  /** On tombstones: the deletion is later than states with a lower revision. */
  revision: "revision",
  traceparent: "traceparent",
  /** On markers only; a marker has no fact. */
  marker: "marker",
  /** On markers that end a rebuild of entities: copies from before have a revision below this. */
  sweepBelow: "sweep-below",
  /** The number of partitions with this marker. */
  sweepPartitions: "sweep-partitions",
  /** Microseconds since 1970: when the rebuild began. */
  sweepSince: "sweep-since",
} as const;

/** Whether a message is a marker, which has no fact. */
export function isMarker({ headers }: { readonly headers: Readonly<Record<string, string>> }): boolean {
  return headers[header.marker] !== undefined;
}
