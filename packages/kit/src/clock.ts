/** Time as an argument, so that tests decide what time it is. */
export interface Clock {
  /** Whole microseconds since 1970. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() * 1000 };
