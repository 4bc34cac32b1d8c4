import type { Cache, Limiter } from "@tessera/kit/cache/cache";
import { fault } from "../faults.ts";
import type { Context, Middleware } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";

/** Requests per minute of each key and each device; 0 means no limit. */
export interface RateLimits {
  readonly requests: number;
  /** Scans are counted separately, so that other uses of a key do not close a gate. */
  readonly scans: number;
}

const windowMs = 60_000;

const scanRoutes: ReadonlySet<string> = new Set(["redeemListedPosition"]);

interface Policy {
  readonly limiter: Limiter;
  /** As in the RateLimit headers. */
  readonly name: string;
  readonly description: string;
}

/** Counts requests in one step and refuses those beyond the limit in another. Between them, kept answers are repeated. */
export type RateSteps = readonly [count: Middleware, refuse: Middleware];

/**
 * Refuses requests beyond the limit, and reports to all others how much is left. It counts by caller, never by
 * address: a whole site may share one. Without limits it returns no steps.
 */
export function limitRate(cache: Cache, { requests, scans }: RateLimits): RateSteps | readonly [] {
  const requestPolicy = policyOf(cache, { name: "requests", attempts: requests });
  const scanPolicy = policyOf(cache, { name: "scans", attempts: scans });
  if (requestPolicy === undefined && scanPolicy === undefined) return [];
  return [
    async (ctx, next) => {
      const policy = isScan(ctx) ? scanPolicy : requestPolicy;
      const { caller } = ctx.state;
      if (policy !== undefined && caller !== undefined && caller.kind !== "operator") {
        const { allowed, remaining, resetMs } = await policy.limiter.take(caller.countedAs);
        const seconds = Math.ceil(resetMs / 1000);
        ctx.set("RateLimit-Policy", policy.description);
        ctx.set("RateLimit", `"${policy.name}";r=${remaining};t=${seconds}`);
        if (!allowed) {
          const message = `Too many requests; wait ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
          ctx.state.overLimit = fault("rate_limited", message, { retryAfterMs: resetMs });
        }
      }
      await next();
    },
    async (ctx, next) => {
      if (ctx.state.overLimit !== undefined) throw ctx.state.overLimit;
      await next();
    },
  ];
}

function policyOf(cache: Cache, { name, attempts }: { name: string; attempts: number }): Policy | undefined {
  if (attempts === 0) return undefined;
  return {
    limiter: cache.limiter({ name, attempts, windowMs }),
    name,
    description: `"${name}";q=${attempts};w=${windowMs / 1000}`,
  };
}

function isScan({ state: { endpoint }, method }: Context): boolean {
  const route = endpoint === undefined ? undefined : routeFor(endpoint, method);
  return route !== undefined && scanRoutes.has(route.name);
}
