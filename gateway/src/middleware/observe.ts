import { randomUUID } from "node:crypto";
import { acceptTraceparent, runInContext } from "@tessera/kit/context";
import type { Log } from "@tessera/kit/log";
import type { Metrics } from "@tessera/kit/metrics";
import type { Context, Middleware } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";

/** Buckets from a cached answer to a slow scan, in seconds. Each is a series for every route and status. */
const buckets = [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5];

/** A valid request id of a client; any other is replaced, because ids are logged. */
const requestIdPattern = /^[\w.:-]{8,128}$/;

/** A request that takes longer is worth a line. */
const slowMs = 1000;

/**
 * Makes one observation per request, and writes one log line, which only tells something where the request was refused or
 * slow: other lines are for `debug`. Both name only the route's template, because addresses contain ticket secrets.
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
        const { status } = ctx;
        duration.observe({ ...served(ctx), status: String(status) }, ms / 1000);
        const level = status >= 400 || ms > slowMs ? "info" : "debug";
        const seen = { method: ctx.method, route: ctx.state.endpoint?.path ?? "none", status };
        log[level]("request", { ...seen, ms: Math.round(ms * 10) / 10, caller: ctx.state.caller?.logId, requestId });
      }
    });
  };
}

/** The route of a request. Clients can send dozens of methods to each address; only the routes are few. */
function served({ method, state: { endpoint } }: Context): { method: string; route: string } {
  const route = endpoint === undefined ? undefined : routeFor(endpoint, method);
  return { method: route?.method ?? "none", route: route?.path ?? "none" };
}
