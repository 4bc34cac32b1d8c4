import type { Observe } from "@tessera/engines/grpc/answer-call";
import { grpcTransport } from "@tessera/engines/grpc/client";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { serveGrpc } from "@tessera/engines/grpc/server";
import type { Environment } from "@tessera/kit/config/config";
import type { Implementation, Transport } from "@tessera/kit/rpc";
import type { Served } from "@tessera/kit/service/lifecycle";
import type { Log } from "@tessera/kit/telemetry/log";
import { fault } from "../faults.ts";
import { readAddresses } from "./grpc-addresses.ts";
import type { CallSecurity } from "./secure-calls.ts";

/** Connects the services of this process with each other and with peers elsewhere. */
export interface Network {
  transportTo(name: string): Transport;
  /** Whether a service runs in this process or has an address. */
  isInstalled(name: string): boolean;
  serve(name: string, implementations: readonly Implementation[]): Promise<Served>;
  close(): Promise<void>;
}

/** How long calls in flight may take when a service stops. */
const graceMs = 5000;

/** Calls within this process. */
export function processNetwork({ log, observe }: { log: Log; observe: Observe }): Network {
  const registry = inProcess({ log, observe });
  return {
    transportTo: (name) => registry.transportTo(name),
    isInstalled: () => true,
    async serve(name, implementations) {
      const server = registry.serve(name, implementations);
      return { drain: async () => server.drain(), stop: () => server.stop(graceMs) };
    },
    close: () => registry.close(),
  };
}

/** Calls over sockets, also between services of one process. `<NAME>_ADDRESS` names peers elsewhere. */
export function socketNetwork(options: {
  names: readonly string[];
  /** Peers that the services of this process call. */
  needs: readonly string[];
  /** Peers that need not be deployed. */
  optional?: readonly string[];
  environment: Environment;
  /** The first service listens on the port, the others on the next ones. Undefined: free ports on loopback. */
  endpoint: { readonly host: string; readonly port: number } | undefined;
  /** Callers reconnect after about this long. */
  ageMs: number;
  /** Undefined: calls are neither encrypted nor authenticated. */
  security?: CallSecurity | undefined;
  log: Log;
  observe: Observe;
}): Network {
  const { names, log, observe, endpoint, ageMs, security } = options;
  const addresses = readAddresses(
    options.needs.filter((peer) => !names.includes(peer)),
    options.environment,
    options.optional,
  );
  const ports = new Map<string, number>();
  const transports = new Map<string, Transport>();

  /** Opened at the first call: a peer in this process may start later. */
  const open = (name: string): Transport => {
    const present = transports.get(name);
    if (present !== undefined) return present;
    const address = addresses.get(name) ?? `127.0.0.1:${ports.get(name) ?? 0}`;
    const tls = security && { certificates: security.certificates, name: security.nameOf(name) };
    const transport = grpcTransport({ address, log, tls });
    transports.set(name, transport);
    return transport;
  };
  return {
    isInstalled: (name) => names.includes(name) || addresses.has(name),
    transportTo: (name) => ({
      call: async (method, request, callOptions) => {
        if (!addresses.has(name) && !ports.has(name)) throw fault("peer_not_started", `${name} has not started yet`);
        return open(name).call(method, request, callOptions);
      },
      close: async () => {},
    }),
    async serve(name, implementations) {
      const server = await serveGrpc({
        host: endpoint?.host ?? "127.0.0.1",
        port: endpoint === undefined || endpoint.port === 0 ? 0 : endpoint.port + names.indexOf(name),
        ageMs,
        implementations,
        log,
        observe,
        tls: security && { certificates: security.certificates, callers: security.callersOf(name) },
      });
      ports.set(name, server.port);
      return { drain: async () => server.drain(), stop: () => server.stop(graceMs) };
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
      security?.certificates.close();
    },
  };
}
