import { acceptTraceparent, currentContext } from "@tessera/kit/context";
import type { CallOptions, Method } from "@tessera/kit/rpc";
import { deadlineExceeded } from "./fault-status.ts";
import { requireSize } from "./message-size.ts";

/** A call as it leaves its caller, over either transport. */
export interface PlacedCall {
  readonly request: Buffer;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly traceparent: string;
  readonly requestId: string | undefined;
}

const defaultTimeoutMs = 5000;

/** No call waits longer. gRPC's own arithmetic overflows at 24 days. */
const longestTimeoutMs = 24 * 60 * 60 * 1000;

/** A nested call ends this much before the outer call, so that the outer handler can report what was too slow. */
const marginMs = 5;

/** Serialises a request and sets its deadline. Throws when no call needs to be made. */
export function placeCall<Request>(
  method: Pick<Method<Request, unknown>, "path" | "requestSerialize">,
  request: Request,
  { timeoutMs = defaultTimeoutMs, signal }: CallOptions,
): PlacedCall {
  if (signal?.aborted) throw abortReason(signal);
  const context = currentContext();
  const now = Date.now();
  const deadline = Math.min(
    now + Math.min(timeoutMs, longestTimeoutMs),
    context.deadline === undefined ? Number.POSITIVE_INFINITY : context.deadline - marginMs,
  );
  if (deadline <= now) throw deadlineExceeded(method.path);
  const bytes = method.requestSerialize(request);
  requireSize(bytes, { what: "request", path: method.path });
  return {
    request: bytes,
    deadline,
    // The span that calls is the parent of the one that answers.
    traceparent: acceptTraceparent(context.traceparent),
    requestId: context.requestId,
  };
}

/** The reason of an aborted signal, always as an error. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
