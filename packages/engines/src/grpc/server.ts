import {
  experimental,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
} from "@grpc/grpc-js";
import type { Implementation } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { HealthImplementation } from "grpc-health-check";
import { answerCall, type Observe, type Served, servedByPath } from "./answer-call.ts";
import type { Certificates } from "./certificates.ts";
import type { WireStatus } from "./fault-status.ts";
import { mostMessageBytes } from "./message-size.ts";
import { detailsKey, requestIdKey, traceparentKey } from "./metadata-keys.ts";
import { type Callers, refuseStrangers } from "./refuse-strangers.ts";

export interface GrpcServer {
  readonly port: number;
  /** Reports NOT_SERVING from now on. Calls are still answered, because balancers need some time to notice. */
  drain(): void;
  /** Refuses new calls at once. Running calls end when they are done, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** A client that disappeared without closing its connection is noticed within 80 seconds, and its calls are aborted. */
const keepaliveMs = 60_000;
const keepaliveTimeoutMs = 20_000;

/** Serves implementations over sockets, with grpc.health.v1 for each of their services and for the whole. */
export async function serveGrpc({
  host,
  port,
  implementations,
  log,
  observe,
  maxMessageBytes = mostMessageBytes,
  ageMs,
  tls,
}: {
  host: string;
  /** 0 takes a free one. */
  port: number;
  implementations: readonly Implementation[];
  log: Log;
  observe?: Observe;
  maxMessageBytes?: number;
  /** The age (±10 %) after which clients open a new connection, so that they find new replicas. */
  ageMs?: number;
  /** Undefined: calls are neither encrypted nor authenticated. */
  tls?: { readonly certificates: Certificates; readonly callers: Callers } | undefined;
}): Promise<GrpcServer> {
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveTimeoutMs,
    ...(ageMs === undefined ? {} : { "grpc.max_connection_age_ms": ageMs }),
    ...(tls === undefined ? {} : { interceptors: [refuseStrangers({ callers: tls.callers, log })] }),
  });
  const served = servedByPath(implementations);
  for (const [path, method] of served) {
    server.register(path, handleUnary(method, { log, observe }), asIs, asIs, "unary");
  }
  const services = ["", ...new Set([...served.keys()].map(serviceOf))];
  const health = new HealthImplementation(Object.fromEntries(services.map((name) => [name, "SERVING"])));
  health.addToServer(server);

  const bound = await listen(server, { host, port, credentials: credentialsOf(tls?.certificates) });

  const drain = () => {
    for (const name of services) health.setStatus(name, "NOT_SERVING");
  };
  let stopped: Promise<void> | undefined;
  return {
    port: bound,
    drain,
    stop(graceMs) {
      drain();
      stopped ??= shutDown(server, graceMs);
      return stopped;
    },
  };
}

/** grpc-js gets bytes. answer-call.ts encodes and decodes messages, and reports encoding errors. */
const asIs = (bytes: Buffer) => bytes;

function handleUnary(served: Served, by: { log: Log; observe: Observe | undefined }) {
  return (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => {
    const [traceparent] = call.metadata.get(traceparentKey);
    const [requestId] = call.metadata.get(requestIdKey);
    const { answer, cancel } = answerCall(
      served,
      {
        request: call.request,
        traceparent: typeof traceparent === "string" ? traceparent : undefined,
        requestId: typeof requestId === "string" ? requestId : undefined,
        deadline: finite(call.getDeadline()),
      },
      by,
    );
    call.on("cancelled", cancel);
    void answer.then((result) => {
      if ("response" in result) respond(null, result.response);
      else respond(toServerError(result.refusal));
    });
  };
}

function toServerError({ code, message, details }: WireStatus) {
  const metadata = new Metadata();
  if (details !== undefined) metadata.set(detailsKey, details);
  return { code, details: message, metadata };
}

function finite(deadline: Date | number): number | undefined {
  const instant = Number(deadline);
  return Number.isFinite(instant) ? instant : undefined;
}

function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf("/"));
}

function credentialsOf(certificates: Certificates | undefined): ServerCredentials {
  if (certificates === undefined) return ServerCredentials.createInsecure();
  const { provider } = certificates;
  // A connection without a client certificate is completed, and refuseStrangers refuses its calls.
  return experimental.createCertificateProviderServerCredentials(provider, provider, false);
}

async function listen(
  server: Server,
  { host, port, credentials }: { host: string; port: number; credentials: ServerCredentials },
): Promise<number> {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(new Error(`cannot listen for gRPC on ${address}; choose another port or address`, { cause: error }));
    });
  });
}

async function shutDown(server: Server, graceMs: number): Promise<void> {
  const done = new Promise<void>((resolve) => {
    server.tryShutdown(() => resolve());
  });
  const timer = setTimeout(() => server.forceShutdown(), graceMs);
  await done;
  clearTimeout(timer);
}
