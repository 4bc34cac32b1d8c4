import type { Allowance, Limiter, LimiterOptions } from "@tessera/kit/cache/cache";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";

/** Runs a script on the server with the shared counts. Rejects at once when that cannot be reached. */
export type Evaluate = (
  script: string,
  options: { readonly keys: readonly string[]; readonly arguments: readonly string[] },
) => Promise<unknown>;

/** As many as a process caches credentials. Beyond this the oldest counts are deleted: that never refuses more. */
const mostKeys = 20_000;

export function localLimiter(options: LimiterOptions, { maxKeys = mostKeys }: { maxKeys?: number } = {}): Limiter {
  return toLimiter(new BoundedMemory(requireLimits(options), maxKeys), options);
}

/** Makes a limiter that counts in Redis, and within this process while Redis cannot be reached. */
export function sharedLimiter(
  options: LimiterOptions,
  { prefix, evaluate }: { prefix: string; evaluate: Evaluate },
): Limiter {
  const limits = requireLimits(options);
  const limiter = new RateLimiterRedis({
    ...limits,
    keyPrefix: `${prefix}limit:${options.name}:${limits.duration}`,
    storeClient: { eval: evaluate },
    useRedisPackage: true,
    // Further attempts of a refused key cost no round trip.
    inMemoryBlockOnConsumed: limits.points,
    insuranceLimiter: new BoundedMemory(limits, mostKeys),
  });
  return toLimiter(limiter, options);
}

interface Limits {
  readonly points: number;
  readonly duration: number;
}

function requireLimits({ name, attempts, windowMs }: LimiterOptions): Limits {
  const duration = windowMs / 1000;
  if (!Number.isSafeInteger(attempts) || attempts < 1)
    throw new Error(`the limiter ${name} allows ${attempts} attempts; it must be a whole number from 1`);
  if (!Number.isSafeInteger(duration) || duration < 1)
    throw new Error(`the limiter ${name} has a window of ${windowMs} ms; it must be whole seconds`);
  return { points: attempts, duration };
}

function toLimiter(limiter: RateLimiterMemory | RateLimiterRedis, { attempts, windowMs }: LimiterOptions): Limiter {
  return {
    async take(key) {
      try {
        return allowance(await limiter.consume(key), { allowed: true });
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return allowance(refusal, { allowed: false });
        // A failure to count refuses no request.
        return { allowed: true, remaining: attempts - 1, resetMs: windowMs };
      }
    },
  };
}

function allowance(
  { remainingPoints, msBeforeNext }: RateLimiterRes,
  { allowed }: Pick<Allowance, "allowed">,
): Allowance {
  return { allowed, remaining: Math.max(0, remainingPoints), resetMs: Math.max(1, msBeforeNext) };
}

class BoundedMemory extends RateLimiterMemory {
  readonly #maxKeys: number;
  /** When the window of each key ends. All windows have the same length, so they end in the order of insertion. */
  readonly #windows = new Map<string, number>();

  constructor(limits: Limits, maxKeys: number) {
    super(limits);
    this.#maxKeys = maxKeys;
  }

  override consume(...args: Parameters<RateLimiterMemory["consume"]>): Promise<RateLimiterRes> {
    this.#note(String(args[0]));
    return super.consume(...args);
  }

  #note(key: string): void {
    const now = Date.now();
    if ((this.#windows.get(key) ?? 0) > now) return;
    this.#windows.delete(key);
    this.#windows.set(key, now + this.msDuration);
    for (const [oldest, end] of this.#windows) {
      if (end > now && this.#windows.size <= this.#maxKeys) break;
      this.#windows.delete(oldest);
      void this.delete(oldest);
    }
  }
}
