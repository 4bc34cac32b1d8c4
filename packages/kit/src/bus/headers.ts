/** The headers every fact travels with. */
export const header = {
  factId: "fact-id",
  /** Microseconds since 1970: when the fact was written. */
  at: "fact-at",
  traceparent: "traceparent",
  /** On markers only, which carry no fact. */
  marker: "marker",
} as const;
