import { acceptTraceparent, isRequestId, runInContext } from "../context.ts";
import { Fault, type FaultKind } from "../fault.ts";
import type { Log } from "../log.ts";
import type { Call, Handler, Implementation, Method } from "../rpc.ts";
import { canceled, deadlineExceeded, ok, toStatus, type WireStatus } from "./fault-status.ts";
import { requireSize } from "./message-size.ts";

/** Told of every call that was answered. */
export type Observe = (call: { path: string; status: string; seconds: number }) => void;

/** What is known of a call when it arrives, whatever carried it. */
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
  /** Ends the call because its caller has gone. */
  readonly cancel: () => void;
}

/** A method with the handler that answers it. */
export interface Served {
  // biome-ignore lint/suspicious/noExplicitAny: methods of any message types, as in rpc.ts
  readonly method: Method<any, any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly handler: Handler<any, any>;
}

/** The way back: the caller is told what timed out, before it gives up and can only say that something did. */
const shaveMs = 20;

/** Work begun with less than this could only be thrown away. */
const leastMs = 5;

/** A caller that names no deadline must not hold a handler for ever. */
const defaultDeadlineMs = 30_000;

/** Anomalies that heal; of the other faults a caller takes care. */
const warned: ReadonlySet<FaultKind> = new Set(["unavailable", "timeout", "exhausted"]);

/** Lists what implementations serve, by path. */
export function servedByPath(implementations: readonly Implementation[]): Map<string, Served> {
  const served = new Map<string, Served>();
  for (const { definition, handlers } of implementations) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`${method.path} has no handler`);
      if (served.has(method.path)) throw new Error(`${method.path} has two handlers`);
      served.set(method.path, { method, handler });
    }
  }
  return served;
}

/**
 * Runs a handler to its answer, whatever becomes of it.
 *
 * The call ends once: by the handler, by its deadline, or by its caller going
 * away. It is then logged and observed, and its signal is aborted unless the
 * handler has returned; what the handler still does after that interests nobody.
 */
export function answerCall(
  { method, handler }: Served,
  arrived: ArrivedCall,
  by: { log: Log; observe: Observe | undefined; maxMessageBytes: number },
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

  const timer =
    left < leastMs
      ? undefined
      : setTimeout(() => {
          const fault = deadlineExceeded(path);
          refuse(fault);
          abort.abort(fault);
        }, left);

  const call: Call = { signal: abort.signal, deadline };
  const work = async () => {
    const response = method.responseSerialize(await handler(method.requestDeserialize(arrived.request), call));
    requireSize(response, { what: "response", path, maxMessageBytes: by.maxMessageBytes });
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
