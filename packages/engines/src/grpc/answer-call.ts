import { acceptTraceparent, isRequestId, runInContext } from "@tessera/kit/context";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { Call, Handler, Implementation, Method } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { countSeldom } from "./count-seldom.ts";
import { canceled, deadlineExceeded, ok, toStatus, unreadable, type WireStatus } from "./fault-status.ts";
import { pauseIfLong, requireSize } from "./message-size.ts";

export type Observe = (call: { path: string; status: string; seconds: number }) => void;

/** A call as it arrives, over either transport. */
export interface ArrivedCall {
  readonly request: Buffer;
  readonly traceparent: string | undefined;
  readonly requestId: string | undefined;
  /** As the caller sent it, in milliseconds since 1970. */
  readonly deadline: number | undefined;
}

export type Answer = { readonly response: Buffer } | { readonly refusal: WireStatus };

export interface CallUnderWay {
  /** Never rejects. */
  readonly answer: Promise<Answer>;
  /** Ends the call because its caller no longer waits. */
  readonly cancel: () => void;
}

export interface Served {
  // biome-ignore lint/suspicious/noExplicitAny: methods of any message types, as in rpc.ts
  readonly method: Method<any, any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly handler: Handler<any, any>;
  readonly countUnreadable: () => number | undefined;
}

/** Time for the answer to travel back, so that a caller learns what timed out before its own timeout. */
const shaveMs = 20;

/** With less time than this no handler is started: its result would be too late. */
const leastMs = 5;

/** A call without a deadline must not keep a handler busy for ever. */
const defaultDeadlineMs = 30_000;

/** Faults that are logged as warnings; others concern only the caller. */
const warned: ReadonlySet<FaultKind> = new Set(["unavailable", "timeout", "exhausted"]);

export function servedByPath(implementations: readonly Implementation[]): Map<string, Served> {
  const served = new Map<string, Served>();
  for (const { definition, handlers } of implementations) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`${method.path} has no handler`);
      if (served.has(method.path)) throw new Error(`${method.path} has two handlers`);
      served.set(method.path, { method, handler, countUnreadable: countSeldom() });
    }
  }
  return served;
}

/**
 * Runs a handler until the call has an answer.
 *
 * The call ends once: when the handler returns, at its deadline, or when its caller no longer waits. Then it is logged
 * and observed, and its signal aborts unless the handler has returned. Later results of the handler are ignored.
 */
export function answerCall(
  { method, handler, countUnreadable }: Served,
  arrived: ArrivedCall,
  by: { log: Log; observe: Observe | undefined },
): CallUnderWay {
  const startedAt = performance.now();
  const { path } = method;
  const now = Date.now();
  const deadline = arrived.deadline === undefined ? now + defaultDeadlineMs : arrived.deadline - shaveMs;
  const left = deadline - now;
  const abort = new AbortController();
  const context = {
    traceparent: acceptTraceparent(arrived.traceparent),
    deadline,
    signal: abort.signal,
    ...(isRequestId(arrived.requestId) ? { requestId: arrived.requestId } : {}),
  };
  const { promise: answer, resolve } = Promise.withResolvers<Answer>();
  let ended = false;

  const end = (result: Answer, error?: unknown) => {
    ended = true;
    clearTimeout(timer);
    resolve(result);
    const status = "refusal" in result ? result.refusal.name : ok;
    runInContext(context, () => report(by, { path, status, ms: performance.now() - startedAt, error }));
  };
  const refuse = (error: unknown) => end({ refusal: toStatus(error) }, error);

  const timeOut = () => {
    const fault = deadlineExceeded(path);
    refuse(fault);
    abort.abort(fault);
  };
  const timer = left < leastMs ? undefined : setTimeout(timeOut, left);

  const call: Call = { signal: abort.signal, deadline };
  /** Bytes that are no request of this method are an error of the caller, which may be a program from outside, and no bug here. */
  const readRequest = (bytes: Buffer): unknown => {
    try {
      return method.requestDeserialize(bytes);
    } catch (cause) {
      const refused = countUnreadable();
      if (refused !== undefined) by.log.warn("unreadable request", { path, refused, error: cause });
      throw fault(unreadable, "the request is no message of this method", { cause });
    }
  };
  const work = async () => {
    await pauseIfLong(arrived.request);
    const request = readRequest(arrived.request);
    await pauseIfLong(arrived.request);
    // Its caller may have gone since it arrived.
    call.signal.throwIfAborted();
    const response = method.responseSerialize(await handler(request, call));
    await pauseIfLong(response);
    requireSize(response, { what: "response", path });
    return response;
  };
  if (timer === undefined) {
    refuse(deadlineExceeded(path));
  } else {
    runInContext(context, work).then(
      (response) => ended || end({ response }),
      (error: unknown) => ended || refuse(error),
    );
  }

  return {
    answer,
    cancel() {
      if (ended) return;
      // In a busy process the caller gives up before the timer fires.
      if (Date.now() >= deadline) return timeOut();
      end({ refusal: canceled });
      abort.abort(new DOMException(`the caller of ${path} has gone`, "AbortError"));
    },
  };
}

function report(
  { log, observe }: { log: Log; observe: Observe | undefined },
  { path, status, ms, error }: { path: string; status: string; ms: number; error: unknown },
): void {
  const fields = { path, status, ms: Math.round(ms * 10) / 10 };
  if (error === undefined) log.debug("rpc", fields);
  else if (!(error instanceof Fault)) log.error("rpc", { ...fields, error });
  else if (warned.has(error.kind)) log.warn("rpc", { ...fields, code: error.code, error });
  else log.debug("rpc", { ...fields, code: error.code });
  observe?.({ path, status, seconds: ms / 1000 });
}
