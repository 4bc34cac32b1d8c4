import { status } from "@grpc/grpc-js";
import { Fault, type FaultKind, type FieldErrors } from "@tessera/kit/fault";
import { fault, type KitFault } from "@tessera/kit/faults";
import { BadRequest, ErrorInfo, RetryInfo } from "@tessera/protos/gen/google/rpc/error_details";
import { Status } from "@tessera/protos/gen/google/rpc/status";

/**
 * The end of a call, as transmitted.
 *
 * Only this file knows both a Fault and a gRPC status. The Fault's code travels as ErrorInfo.reason, its fields as
 * BadRequest violations (one per message), its pause as RetryInfo: gRPC's standard error model, which other clients
 * read too. Nothing is transmitted of an error that is no Fault.
 */
export interface WireStatus {
  readonly code: number;
  /** The code's name, for people: `NOT_FOUND`. */
  readonly name: string;
  readonly message: string;
  /** The content of `grpc-status-details-bin`: a google.rpc.Status. */
  readonly details: Buffer | undefined;
}

const codeByKind: Readonly<Record<FaultKind, status>> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.ABORTED,
  unmet: status.FAILED_PRECONDITION,
  exhausted: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  timeout: status.DEADLINE_EXCEEDED,
};

const kindByCode: ReadonlyMap<number, FaultKind> = new Map([
  ...Object.entries(codeByKind).map(([kind, code]) => [code, kind as FaultKind] as const),
  // This side did not cancel: a peer that is stopped ends its streams like this.
  [status.CANCELLED, "unavailable"] as const,
]);

const refusedProcess = ["peer_refuses", "the service refuses this process: compare their certificates"] as const;

/**
 * The fault for a status of gRPC itself, of proxies or meshes. A refusal of this process must not look like a refusal
 * of its client's credentials.
 */
const unexplained: Readonly<Record<FaultKind, readonly [code: KitFault, message: string]>> = {
  invalid: ["invalid_request", "the service rejected the request"],
  unauthenticated: refusedProcess,
  forbidden: refusedProcess,
  not_found: ["not_found", "the service has no such object"],
  conflict: ["conflict", "another change came first; read again, then retry"],
  unmet: ["unmet", "the service is not in a state that allows this"],
  exhausted: ["exhausted", "the message is too large, or the service is overloaded"],
  unavailable: ["peer_unavailable", "the service cannot be reached; try again shortly"],
  timeout: ["deadline_exceeded", "the service did not answer in time"],
};

export const ok = status[status.OK];

export const canceled = statusOf(status.CANCELLED, "canceled by the caller");

/** The status of a call to an unknown method, as gRPC's own server sends it. */
export const unimplemented = statusOf(status.UNIMPLEMENTED, "method not implemented");

/** The status of a call without a certificate that the server accepts. */
export const uncertified = statusOf(status.UNAUTHENTICATED, "no certificate that is accepted here");

/** The status of a call whose certificate belongs to no caller of the method. */
export const notACaller = statusOf(status.PERMISSION_DENIED, "the certificate has no name that may call this");

const internal = statusOf(status.INTERNAL, "internal error");

function statusOf(code: status, message: string, details?: Buffer): WireStatus {
  return { code, name: status[code], message, details };
}

/** Turns an error of a handler into what its caller may know. */
export function toStatus(error: unknown): WireStatus {
  if (!(error instanceof Fault)) return internal;
  const code = codeByKind[error.kind];
  const message = headerMessage(error.message);
  return statusOf(code, message, encodeDetails(code, error, encodeURI(message).length));
}

/** The code of a request that is no message of its method. From a process of ours such a request is a bug, which no client can correct. */
export const unreadable = "invalid_request";

/** Turns the status of a call into the error for its caller: a Fault, or another error when the peer has a bug. */
export function fromStatus(received: Omit<WireStatus, "name">, path: string): Error {
  const kind = kindByCode.get(received.code);
  if (kind === undefined) {
    const cause = new Error(`${status[received.code] ?? received.code}: ${received.message}`);
    // A peer that lacks the method is another service, or another version.
    const isLacking = received.code === status.UNIMPLEMENTED;
    return new Error(isLacking ? `the peer does not implement ${path}` : `internal error in ${path}`, { cause });
  }
  const sent = decodeDetails(received.details);
  if (sent?.code === unreadable) return new Error(`the peer could not read a request to ${path}`);
  if (sent !== undefined) return new Fault(kind, sent.code, sent.message, sent.more);
  return unexplainedFault(kind, `${path}: ${received.message}`);
}

function unexplainedFault(kind: FaultKind, cause: string): Fault {
  const [code, message] = unexplained[kind];
  return fault(code, message, { cause: new Error(cause) });
}

/** Whether the peer refuses this process, as opposed to the request. */
export function refusesProcess({ code }: Pick<WireStatus, "code">): boolean {
  return code === uncertified.code || code === notACaller.code;
}

/** Whether gRPC on this side timed out, as opposed to the peer. */
export function isLocalTimeout(received: Omit<WireStatus, "name">): boolean {
  return received.code === status.DEADLINE_EXCEEDED && received.details === undefined;
}

export function peerUnavailable(path: string, reason: string): Fault {
  return unexplainedFault("unavailable", `${path}: ${reason}`);
}

export function deadlineExceeded(path: string): Fault {
  return unexplainedFault("timeout", `${path}: deadline exceeded`);
}

/** Peers accept 8 KiB of headers; the rest is for what proxies add. */
const trailerLimit = 6 * 1024;
/** Room for the names and separators of the headers, and for the Any and Status around the details. */
const frame = 400;
const messageLimit = 1024;
const violationLimit = 512;
const violationFrame = 12;
const withoutField = "non_field_errors";

const domain = "tessera";
const typeUrl = (name: string) => `type.googleapis.com/google.rpc.${name}`;

function encodeDetails(
  code: number,
  { message: whole, code: name, fields, retryAfterMs }: Fault,
  messageHeaderLength: number,
): Buffer {
  const message = cutToBytes(whole, messageLimit);
  const reason = cutToBytes(name, 128);
  // The header is base64: four characters for three bytes.
  const budget =
    ((trailerLimit - frame - messageHeaderLength) * 3) / 4 - Buffer.byteLength(message) - Buffer.byteLength(reason);
  const details = [
    { typeUrl: typeUrl("ErrorInfo"), value: ErrorInfo.encode({ reason, domain, metadata: {} }).finish() },
  ];
  const fieldViolations = violationsWithin(budget, fields ?? {});
  if (fieldViolations.length > 0) {
    details.push({ typeUrl: typeUrl("BadRequest"), value: BadRequest.encode({ fieldViolations }).finish() });
  }
  if (retryAfterMs !== undefined && Number.isFinite(retryAfterMs)) {
    const wait = Math.max(0, Math.round(retryAfterMs));
    const retryDelay = { seconds: Math.floor(wait / 1000), nanos: (wait % 1000) * 1e6 };
    details.push({ typeUrl: typeUrl("RetryInfo"), value: RetryInfo.encode({ retryDelay }).finish() });
  }
  return Buffer.from(Status.encode({ code, message, details }).finish());
}

interface Violation {
  readonly field: string;
  readonly description: string;
}

function violationsWithin(budget: number, fields: FieldErrors): Violation[] {
  const all = Object.entries(fields).flatMap(([name, messages]) => {
    const field = cutToBytes(name, violationLimit);
    return messages.map((message) => ({ field, description: cutToBytes(message, violationLimit) }));
  });
  let left = budget;
  const fitting = all.findIndex(({ field, description }) => {
    left -= Buffer.byteLength(field) + Buffer.byteLength(description) + violationFrame;
    return left < 0;
  });
  if (fitting === -1) return all;
  return [...all.slice(0, fitting), { field: withoutField, description: `and ${all.length - fitting} more` }];
}

function decodeDetails(
  details: Buffer | undefined,
): { code: string; message: string; more: { fields?: FieldErrors; retryAfterMs?: number } } | undefined {
  if (details === undefined) return undefined;
  try {
    const { message, details: parts } = Status.decode(details);
    const part = (name: string) => parts.find((candidate) => candidate.typeUrl === typeUrl(name))?.value;
    const info = part("ErrorInfo");
    const { reason, domain: origin } = info === undefined ? {} : ErrorInfo.decode(info);
    if (reason === undefined || origin !== domain) return undefined;
    const badRequest = part("BadRequest");
    const retryInfo = part("RetryInfo");
    const delay = retryInfo === undefined ? undefined : RetryInfo.decode(retryInfo).retryDelay;
    return {
      code: reason,
      message,
      more: {
        ...(badRequest === undefined ? {} : { fields: groupByField(BadRequest.decode(badRequest).fieldViolations) }),
        ...(delay === undefined ? {} : { retryAfterMs: delay.seconds * 1000 + Math.round(delay.nanos / 1e6) }),
      },
    };
  } catch {
    // Details are optional: the status alone gives the kind.
    return undefined;
  }
}

function groupByField(violations: readonly Violation[]): FieldErrors {
  const byField = Map.groupBy(violations, ({ field }) => field);
  return Object.fromEntries(Array.from(byField, ([field, of]) => [field, of.map(({ description }) => description)]));
}

/** Percent-encoding makes a non-ASCII letter longer, and fails for half a surrogate pair. */
function headerMessage(message: string): string {
  let length = 0;
  let kept = "";
  for (const character of message.slice(0, messageLimit + 1).toWellFormed()) {
    length += encodeURI(character).length;
    if (length > messageLimit) return `${kept}…`;
    kept += character;
  }
  return kept;
}

function cutToBytes(text: string, limit: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(limit));
  if (read === text.length) return text.toWellFormed();
  const kept = encoder.encodeInto(text, new Uint8Array(limit - Buffer.byteLength("…"))).read;
  return `${text.slice(0, kept).toWellFormed()}…`;
}

const encoder = new TextEncoder();
