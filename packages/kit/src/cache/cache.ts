/** What a limiter says of one attempt. */
export interface Allowance {
  readonly allowed: boolean;
  /** Attempts left in the window under way. */
  readonly remaining: number;
  /** When the window under way ends, in milliseconds from now. */
  readonly resetMs: number;
}

/** Windows begin with the first attempt of a key and do not slide. */
export interface LimiterOptions {
  /** Limiters of one name count together, and are alike. */
  readonly name: string;
  /** At least one. */
  readonly attempts: number;
  /** Whole seconds, in milliseconds. */
  readonly windowMs: number;
}

export interface Limiter {
  /** Takes one attempt of `key`. Never rejects and never waits long: without the shared count it counts for this process alone. */
  take(key: string): Promise<Allowance>;
}

/**
 * What processes tell each other without needing it.
 *
 * Promise: nothing that depends on it changes its answer when it is gone, slow
 * or restarted. Whatever may get lost is lost in silence; nothing here rejects.
 */
export interface Cache {
  /** Tells every process that listens, this one included. May get lost elsewhere, but not here; may come twice. */
  hint(channel: string, text: string): void;
  /** Listens; the function returned ends it. Never called before it has returned. */
  onHint(channel: string, act: (text: string) => void): () => void;
  /** Limits attempts per key and window, counted together by all processes that share the cache. */
  limiter(options: LimiterOptions): Limiter;
  close(): Promise<void>;
}
