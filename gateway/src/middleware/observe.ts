import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { acceptTraceparent, runInContext } from "@tessera/kit/context";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { Span, Tracing } from "@tessera/kit/telemetry/trace";
import type { GatewayFault } from "../faults.ts";
import type { Context } from "../http/context.ts";
import { routeFor } from "../http/endpoint.ts";
import { httpStatus, isFailure, isRefusal } from "../http/problem.ts";

/** Buckets from a cached answer to a slow scan, in seconds. Each is a time series per route and status. */
const buckets = [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5];

/** A valid request id of a client; others are replaced, because ids are logged. */
const requestIdPattern = /^[\w.:-]{8,128}$/;

/** Thousands of scans a second may be refused with this code: counted, but not logged. */
const floodOfScans: GatewayFault = "too_many_redeems";

/** A longer request is logged. */
const slowMs = 1000;

/**
 * Makes one metric observation and one log line per request: at `info` or above if it was refused or slow, else at
 * `debug`. Both contain only the route's template, because addresses contain ticket secrets.
 */
export function observe(
  answer: (ctx: Context) => Promise<void>,
  { log, metrics, tracing }: { log: Log; metrics: Metrics; tracing: Tracing },
) {
  const { duration, refused } = requestMetrics(metrics);
  return async (ctx: Context): Promise<void> => {
    const started = performance.now();
    const requestId = requestIdOf(ctx.req);
    ctx.res.setHeader("X-Request-Id", requestId);
    const answerObserved = async (span: Span) => {
      try {
        await answer(ctx);
      } finally {
        const ms = performance.now() - started;
        const { status } = ctx;
        const { method, route } = served(ctx);
        duration.observe({ method, route, status: String(status) }, ms / 1000);
        if (status === httpStatus.tooManyRequests) refused.add({ reason: ctx.state.refusal ?? "none" });
        if (tracing.isOn) describe(span, ctx, { method, route });
        const isTold = isRefusal(status) && ctx.state.refusal !== floodOfScans;
        const level = isTold || ms > slowMs ? "info" : "debug";
        const seen = { method: ctx.method, route: ctx.state.endpoint?.template ?? "none", status };
        log[level]("request", { ...seen, ms: Math.round(ms * 10) / 10, caller: ctx.state.caller?.logId, requestId });
      }
    };
    const parent = ctx.get("traceparent");
    // A root span starts the trace; without spans the trace id is made here, for the log.
    const context = tracing.isOn && parent === "" ? {} : { traceparent: acceptTraceparent(parent || undefined) };
    await runInContext(context, () => tracing.span("HTTP", { kind: "server" }, answerObserved));
  };
}

function requestMetrics(metrics: Metrics) {
  return {
    duration: metrics.histogram(
      "http_request_duration_seconds",
      "Time from a request's header to its answer.",
      ["method", "route", "status"],
      buckets,
    ),
    refused: metrics.counter("http_too_many_requests_total", "Answers with the status 429, by the fault behind them.", [
      "reason",
    ]),
  };
}

function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && requestIdPattern.test(sent) ? sent : randomUUID();
}

/** Describes the span of a request. The path stays out of traces: it contains ticket secrets. */
function describe(span: Span, { status, protocol, state }: Context, { method, route }: Served): void {
  const isKnown = route !== "none";
  if (isKnown) span.rename(`${method} ${route}`);
  span.set({
    "http.request.method": isKnown ? method : "_OTHER",
    "http.response.status_code": status,
    "url.scheme": protocol,
    ...(isKnown ? { "http.route": route } : {}),
  });
  // A client error is no failure of the server.
  if (isFailure(status)) span.fail(state.refusal ?? String(status));
}

interface Served {
  readonly method: string;
  readonly route: string;
}

/** The route of a request. Its labels are bounded, although clients may send any method. */
function served({ method, state: { endpoint } }: Context): Served {
  const route = endpoint === undefined ? undefined : routeFor(endpoint, method);
  return { method: route?.method ?? "none", route: (route && endpoint?.template) ?? "none" };
}
