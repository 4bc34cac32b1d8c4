/** The answer of a limiter to one attempt. */
export interface Allowance {
  readonly allowed: boolean;
  /** Attempts left in the window under way. */
  readonly remaining: number;
  /** When the window under way ends, in milliseconds from now. */
  readonly resetMs: number;
}

/** A window begins with the first attempt of a key, and does not slide. */
export interface LimiterOptions {
  /** Limiters of the same name share their counts and have the same options. */
  readonly name: string;
  /** At least one. */
  readonly attempts: number;
  /** Whole seconds, in milliseconds. */
  readonly windowMs: number;
}

export interface Limiter {
  /** Counts one attempt of `key`. Never rejects, never waits long: without the shared counts it counts in this process. */
  take(key: string): Promise<Allowance>;
}

/**
 * Counts that processes share, but do not need.
 *
 * Promise: no answer of the platform changes when the cache is lost, slow or restarted. Losses are silent; nothing here
 * rejects.
 */
export interface Cache {
  /** Limits attempts per key and window, counted by all processes that share the cache. */
  limiter(options: LimiterOptions): Limiter;
  close(): Promise<void>;
}
