import { Fault, type FaultKind } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import { fault, type GatewayFault } from "../faults.ts";
import type { Context } from "./context.ts";
import { ElementErrors } from "./element-errors.ts";

/** Only this file knows both a Fault and an HTTP status. */
const statusByKind: Readonly<Record<FaultKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  unmet: 409,
  exhausted: 429,
  unavailable: 503,
  timeout: 503,
};

/** Exceptions, where the API promises another status than that of the kind. */
const statusByCode: ReadonlyMap<string, number> = new Map([
  ["method_not_allowed", 405],
  ["not_acceptable", 406],
  ["body_too_slow", 408],
  ["changed_since", 412],
  ["body_too_large", 413],
  ["unsupported_media_type", 415],
  ["expectation_unmet", 417],
  ["head_too_large", 431],
  ["message_too_large", 429],
]);

/** The default Retry-After: a lock is held for up to 5 s, an outage may end at any moment. */
const retryAfterSeconds: ReadonlyMap<number, number> = new Map([
  [409, 5],
  [429, 1],
  [503, 1],
]);

/** The status that proxies log for a client that disconnects before its answer. */
const clientDisconnected = 499;

export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Makes the answer to an error. Anything but a Fault is a bug or an outage: its message stays in the process. */
export function toProblem(error: unknown): Problem {
  if (!(error instanceof Fault)) {
    return { status: 500, headers: {}, body: { detail: "Something went wrong here; it has been recorded." } };
  }
  const status = statusByCode.get(error.code) ?? statusByKind[error.kind];
  const body = error.cause instanceof ElementErrors ? error.cause.body : (error.fields ?? { detail: error.message });
  return { status, headers: headersOf(error, status), body };
}

export function statusOf(code: GatewayFault): number {
  return toProblem(fault(code, "")).status;
}

export function saysWhenToRetry(status: number): boolean {
  return retryAfterSeconds.has(status);
}

/** Whether a repeated request would get the same answer, so that the answer may be kept (A10.7, A10.8). */
export function isLasting(status: number): boolean {
  return status !== statusByKind.unauthenticated && !saysWhenToRetry(status) && status < clientDisconnected;
}

export function methodNotAllowed(): Fault {
  return fault("method_not_allowed", "This method is not allowed here.");
}

function headersOf(problem: Fault, status: number): Record<string, string> {
  if (problem.kind === "unauthenticated") return { "WWW-Authenticate": "Token" };
  const seconds = retryAfterSeconds.get(status);
  if (seconds === undefined) return {};
  const asked = problem.retryAfterMs === undefined ? seconds : Math.ceil(problem.retryAfterMs / 1000);
  return { "Retry-After": String(Math.max(1, asked)) };
}

export function answerProblem(ctx: Context, error: unknown, log: Log): void {
  if (ctx.res.destroyed) {
    // Only the log reads this status: the client has disconnected.
    ctx.status = clientDisconnected;
    return;
  }
  const { status, headers, body } = toProblem(error);
  const route = ctx.state.endpoint?.template;
  if (error instanceof Fault) ctx.state.refusal = error.code;
  if (!(error instanceof Fault)) log.error("request failed", { route, error });
  else if (status >= 500) log.warn("request could not be served", { route, error });
  ctx.set({ ...headers });
  ctx.status = status;
  ctx.body = body;
}
