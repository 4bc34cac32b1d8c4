import type { Cache, Limiter } from "@tessera/kit/cache/cache";
import type { Tenant } from "../access/caller.ts";
import { fault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import type { Step } from "../http/step.ts";

/** Requests per minute of each key and each device; 0: no limit. */
export interface RateLimits {
  readonly requests: number;
  /** Scans are counted separately, so that other uses of a key do not close a gate. */
  readonly scans: number;
}

const windowMs = 60_000;

const scanRoutes: ReadonlySet<string> = new Set(["redeemListedPosition", "redeemOnLists", "redeemBatch"]);

interface Policy {
  readonly limiter: Limiter;
  /** As in the RateLimit headers. */
  readonly name: string;
  readonly description: string;
}

/**
 * Counts requests by caller, and reports the remaining quota. Not by address: a whole venue may share one. Requests
 * beyond the limit are noted for a later step.
 */
export function limitRate(cache: Cache, { requests, scans }: RateLimits): Step | undefined {
  const requestPolicy = policyOf(cache, { name: "requests", attempts: requests });
  const scanPolicy = policyOf(cache, { name: "scans", attempts: scans });
  if (requestPolicy === undefined && scanPolicy === undefined) return undefined;
  return (ctx) => {
    const policy = isScan(ctx) ? scanPolicy : requestPolicy;
    const { caller } = ctx.state;
    if (policy === undefined || caller === undefined || caller.kind === "operator") return undefined;
    return count(ctx, policy, caller);
  };
}

async function count({ res, state }: Context, { limiter, name, description }: Policy, { countedAs }: Tenant) {
  const { allowed, remaining, resetMs } = await limiter.take(countedAs);
  const seconds = Math.ceil(resetMs / 1000);
  res.setHeader("RateLimit-Policy", description);
  res.setHeader("RateLimit", `"${name}";r=${remaining};t=${seconds}`);
  if (!allowed) {
    const message = `Too many requests; wait ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
    state.overLimit = fault("rate_limited", message, { retryAfterMs: resetMs });
  }
  return undefined;
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
