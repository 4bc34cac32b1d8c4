/** The headers every fact travels with. */
export const header = {
  factId: "fact-id",
  /** Microseconds since 1970: when the fact was written. */
  at: "fact-at",
  /** The same of a fact that is told again, whose own time lies further back. */
  writtenAt: "written-at",
  traceparent: "traceparent",
  /** On markers only, which carry no fact. */
  marker: "marker",
  /** On markers that end a rebuild of entities: what was held before has a revision below this. */
  sweepBelow: "sweep-below",
  /** On how many partitions the marker stands. */
  sweepPartitions: "sweep-partitions",
  /** Microseconds since 1970: when the rebuild began. */
  sweepSince: "sweep-since",
} as const;
