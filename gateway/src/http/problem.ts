import { Fault, type FaultKind } from "@tessera/kit/fault";
import { fault, type GatewayFault } from "../faults.ts";
import { ElementErrors } from "./element-errors.ts";

/** The name of every HTTP status. Only this file knows its number. */
export const httpStatus = {
  ok: 200,
  created: 201,
  accepted: 202,
  noContent: 204,
  partialContent: 206,
  movedPermanently: 301,
  found: 302,
  seeOther: 303,
  notModified: 304,
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  notAcceptable: 406,
  tooSlow: 408,
  conflict: 409,
  gone: 410,
  preconditionFailed: 412,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  expectationFailed: 417,
  tooManyRequests: 429,
  headTooLarge: 431,
  /** What proxies log for a client that disconnects before its answer. */
  clientDisconnected: 499,
  internalError: 500,
  unavailable: 503,
} as const;

export type StatusName = keyof typeof httpStatus;

/** Only this file knows both a Fault and an HTTP status. */
const statusByKind: Readonly<Record<FaultKind, StatusName>> = {
  invalid: "invalid",
  unauthenticated: "unauthenticated",
  forbidden: "forbidden",
  not_found: "notFound",
  conflict: "conflict",
  unmet: "conflict",
  exhausted: "tooManyRequests",
  unavailable: "unavailable",
  timeout: "unavailable",
};

/** Exceptions, where the API promises another status than that of the kind. */
const statusByCode: ReadonlyMap<string, StatusName> = new Map([
  ["method_not_allowed", "methodNotAllowed"],
  ["not_acceptable", "notAcceptable"],
  ["body_too_slow", "tooSlow"],
  ["changed_since", "preconditionFailed"],
  ["body_too_large", "tooLarge"],
  ["unsupported_media_type", "unsupportedMediaType"],
  ["expectation_unmet", "expectationFailed"],
  ["head_too_large", "headTooLarge"],
  ["message_too_large", "tooManyRequests"],
]);

/** The default Retry-After: a lock is held for up to 5 s, an outage may end at any moment. */
const retryAfterSeconds: ReadonlyMap<number, number> = new Map([
  [httpStatus.conflict, 5],
  [httpStatus.tooManyRequests, 1],
  [httpStatus.unavailable, 1],
]);

export interface Problem {
  readonly status: StatusName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Makes the answer to an error. Anything but a Fault is a bug or an outage: its message stays in the process. */
export function toProblem(error: unknown): Problem {
  if (!(error instanceof Fault)) {
    return {
      status: "internalError",
      headers: {},
      body: { detail: "Something went wrong here; it has been recorded." },
    };
  }
  const status = statusByCode.get(error.code) ?? statusByKind[error.kind];
  return { status, headers: headersOf(error, status), body: bodyOf(error) };
}

function bodyOf({ code, message, fields, cause }: Fault): unknown {
  if (cause instanceof ElementErrors) return cause.body;
  // Why an event is not ready is a list of one message (D2.2).
  return fields ?? (code === "not_shreddable" ? [message] : { detail: message });
}

export function statusOf(code: GatewayFault): number {
  return httpStatus[toProblem(fault(code, "")).status];
}

export function saysWhenToRetry(status: number): boolean {
  return retryAfterSeconds.has(status);
}

/** Whether a repeated request would get the same answer, so that the answer may be kept (A10.7, A10.8). */
export function isLasting(status: number): boolean {
  return status !== httpStatus.unauthenticated && !saysWhenToRetry(status) && status < httpStatus.clientDisconnected;
}

export function isSuccess(status: number): boolean {
  return status < 300;
}

/** Whether the request was refused, or failed. */
export function isRefusal(status: number): boolean {
  return status >= 400;
}

/** Whether the failure is that of the server. */
export function isFailure(status: number): boolean {
  return status >= 500;
}

export function methodNotAllowed(): Fault {
  return fault("method_not_allowed", "This method is not allowed here.");
}

function headersOf(problem: Fault, status: StatusName): Record<string, string> {
  if (problem.kind === "unauthenticated") return { "WWW-Authenticate": "Token" };
  const seconds = retryAfterSeconds.get(httpStatus[status]);
  if (seconds === undefined) return {};
  const asked = problem.retryAfterMs === undefined ? seconds : Math.ceil(problem.retryAfterMs / 1000);
  return { "Retry-After": String(Math.max(1, asked)) };
}
