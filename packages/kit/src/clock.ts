/** The time as an argument, so that tests can set it. */
export interface Clock {
  /** Whole microseconds since 1970. */
  now(): number;
}

/** The machine's clock. Services use the clock of their database: several machines never agree. */
export const systemClock: Clock = { now: () => Date.now() * 1000 };
