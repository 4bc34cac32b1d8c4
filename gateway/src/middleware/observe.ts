import { randomUUID } from "node:crypto";
import { acceptTraceparent, runInContext } from "@tessera/kit/context";
import type { Log } from "@tessera/kit/log";
import type { Metrics } from "@tessera/kit/metrics";
import type { Context, Middleware } from "../http/context.ts";

/** Buckets from a cached answer to a long import, in seconds. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** A valid request id of a client; any other is replaced, because ids are logged. */
const requestIdPattern = /^[\w.:-]{8,128}$/;

/**
 * Writes one log line and one observation per request. They name only the
 * route's template, because addresses contain ticket secrets.
 */
export function observe({ log, metrics }: { log: Log; metrics: Metrics }): Middleware {
  const duration = metrics.histogram(
    "http_request_seconds",
    "Time from a request's header to its answer.",
    ["method", "route", "status"],
    buckets,
  );
  return async (ctx, next) => {
    const started = performance.now();
    const sent = ctx.get("X-Request-Id");
    const requestId = requestIdPattern.test(sent) ? sent : randomUUID();
    ctx.set("X-Request-Id", requestId);
    await runInContext({ traceparent: acceptTraceparent(ctx.get("traceparent") || undefined) }, async () => {
      try {
        await next();
      } finally {
        const ms = performance.now() - started;
        const seen = { method: methodOf(ctx), route: ctx.state.endpoint?.path ?? "none", status: ctx.status };
        duration.observe({ ...seen, status: String(seen.status) }, ms / 1000);
        log.info("request", { ...seen, ms: Math.round(ms * 10) / 10, caller: ctx.state.caller?.logId, requestId });
      }
    });
  };
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Node accepts dozens of methods; labels are a closed list. */
function methodOf(ctx: Context): string {
  return methods.has(ctx.method) ? ctx.method : "other";
}
