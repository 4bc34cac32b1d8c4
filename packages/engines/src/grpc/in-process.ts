import type { Implementation, Transport } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { answerCall, type CallUnderWay, type Observe, type Served, servedByPath } from "./answer-call.ts";
import { fromStatus, peerUnavailable, unimplemented } from "./fault-status.ts";
import { abortReason, type PlacedCall, placeCall } from "./place-call.ts";

export interface InProcess {
  /** Serves implementations under a name. Starts waiting calls. */
  serve(name: string, implementations: readonly Implementation[]): InProcessServer;
  /** Opens the transport to a service, which may begin to serve later. */
  transportTo(name: string): Transport;
  /** Refuses all calls: waiting ones, running ones and later ones. */
  close(): Promise<void>;
}

export interface InProcessServer {
  /** Has no effect, because calls within a process are not balanced. A GrpcServer has it. */
  drain(): void;
  /** Refuses new calls at once. Running calls end when they are done, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Calls wait for the service within their deadline. */
interface Absent {
  readonly state: "absent";
  readonly waiting: Set<() => void>;
}

interface Serving {
  readonly state: "serving";
  readonly served: ReadonlyMap<string, Served>;
  readonly underWay: Set<CallUnderWay>;
}

/** The service will not come back: calls are refused at once. */
interface Stopped {
  readonly state: "stopped";
}

/**
 * Carries calls between services of one process.
 *
 * Messages are serialised both ways, errors become a status and a Fault again, and a handler knows no more of its
 * caller than over a socket.
 */
export function inProcess({ log, observe }: { log: Log; observe?: Observe }): InProcess {
  const peers = new Map<string, Absent | Serving | Stopped>();
  let ended = false;

  return {
    serve(name, implementations) {
      const before = peers.get(name);
      if (before?.state === "serving") throw new Error(`${name} is served already`);
      const underWay = new Set<CallUnderWay>();
      peers.set(name, { state: "serving", served: servedByPath(implementations), underWay });
      if (before?.state === "absent") for (const goAhead of before.waiting) goAhead();
      let stopped: Promise<void> | undefined;
      return {
        drain() {},
        stop(graceMs) {
          if (stopped === undefined) {
            peers.set(name, { state: "stopped" });
            stopped = finish(underWay, graceMs);
          }
          return stopped;
        },
      };
    },
    transportTo(name) {
      let closed = false;
      return {
        async call(method, request, options) {
          if (closed) throw peerUnavailable(method.path, "transport closed");
          const placed = placeCall(method, request, options);
          return method.responseDeserialize(await send(name, method.path, placed, options.signal));
        },
        async close() {
          closed = true;
        },
      };
    },
    async close() {
      ended = true;
      for (const peer of peers.values()) {
        if (peer.state === "absent") for (const goAhead of peer.waiting) goAhead();
        else if (peer.state === "serving") for (const call of peer.underWay) call.cancel();
      }
    },
  };

  function lookUp(name: string, path: string): Absent | Serving {
    const peer = peers.get(name) ?? { state: "absent", waiting: new Set() };
    if (ended || peer.state === "stopped") throw peerUnavailable(path, `${name} has stopped`);
    peers.set(name, peer);
    return peer;
  }

  async function send(
    name: string,
    path: string,
    { deadline, ...placed }: PlacedCall,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    let peer = lookUp(name, path);
    while (peer.state === "absent") {
      await arrival(peer, { path, deadline, signal });
      peer = lookUp(name, path);
    }
    if (signal?.aborted) throw abortReason(signal);
    // Synchronous until the call is in `underWay`: a stop of the peer must find it there.
    const served = peer.served.get(path);
    if (served === undefined) throw fromStatus(unimplemented, path);
    const call = answerCall(served, { ...placed, deadline }, { log, observe });
    peer.underWay.add(call);
    signal?.addEventListener("abort", call.cancel, { once: true });
    try {
      const answer = await call.answer;
      if ("response" in answer) return answer.response;
      if (signal?.aborted) throw abortReason(signal);
      throw fromStatus(answer.refusal, path);
    } finally {
      peer.underWay.delete(call);
      signal?.removeEventListener("abort", call.cancel);
    }
  }
}

async function finish(underWay: ReadonlySet<CallUnderWay>, graceMs: number): Promise<void> {
  const timer = setTimeout(() => {
    for (const call of underWay) call.cancel();
  }, graceMs);
  await Promise.all([...underWay].map((call) => call.answer));
  clearTimeout(timer);
}

function arrival(
  { waiting }: Absent,
  { path, deadline, signal }: { path: string; deadline: number; signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.delete(goAhead);
      clearTimeout(timer);
      signal?.removeEventListener("abort", abandon);
    };
    const goAhead = () => {
      leave();
      resolve();
    };
    const abandon = () => {
      leave();
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      leave();
      reject(peerUnavailable(path, "no service of this process serves it"));
    }, deadline - Date.now());
    waiting.add(goAhead);
    signal?.addEventListener("abort", abandon, { once: true });
  });
}
