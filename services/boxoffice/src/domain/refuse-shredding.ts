/** What decides whether the personal data of an event may be erased. */
export interface Shreddable {
  readonly live: boolean;
  readonly isSeries: boolean;
  /** The end of the event, or of a series' last date, in microseconds since 1970. Null: a series without dates. */
  readonly lastAt: number | null;
  readonly now: number;
}

/** Why the personal data of an event may not be erased; undefined: it may (D2.1). */
export function refuseShredding({ live, isSeries, lastAt, now }: Shreddable): string | undefined {
  if (lastAt !== null && lastAt >= now) {
    return isSeries
      ? "Personal data can be erased when all dates of the event are over."
      : "Personal data can be erased when the event is over.";
  }
  return live ? "Personal data can be erased when the shop of the event is offline." : undefined;
}
