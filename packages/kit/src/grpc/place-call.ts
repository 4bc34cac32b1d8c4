import { childTraceparent, currentContext } from "../context.ts";
import type { CallOptions, Method } from "../rpc.ts";
import { deadlineExceeded } from "./fault-status.ts";
import { requireSize } from "./message-size.ts";

/** A call as it leaves its caller, whatever carries it. */
export interface PlacedCall {
  readonly request: Buffer;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly traceparent: string;
  readonly requestId: string | undefined;
}

const defaultTimeoutMs = 5000;

/** Nothing waits longer than this; gRPC's own arithmetic overflows at 24 days. */
const longestTimeoutMs = 24 * 60 * 60 * 1000;

/** A nested call ends this much before the call it is part of, whose handler then can still say what was too slow. */
const marginMs = 5;

/** Serialises a request and decides until when its answer is of use. Throws where no call needs to be made. */
export function placeCall<Request>(
  method: Pick<Method<Request, unknown>, "path" | "requestSerialize">,
  request: Request,
  { timeoutMs = defaultTimeoutMs, signal, maxMessageBytes }: CallOptions & { maxMessageBytes: number },
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
  requireSize(bytes, { what: "request", path: method.path, maxMessageBytes });
  return {
    request: bytes,
    deadline,
    traceparent: childTraceparent(context.traceparent),
    requestId: context.requestId,
  };
}

/** Says why a signal was aborted, as an error whatever it was aborted with. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
