import { memoryBus } from "@tessera/kit/bus/memory";
import { systemClock } from "@tessera/kit/clock";
import type { Environment } from "@tessera/kit/config";
import { Fault } from "@tessera/kit/fault";
import type { Observe } from "@tessera/kit/grpc/answer-call";
import { grpcTransport } from "@tessera/kit/grpc/client";
import { inProcess } from "@tessera/kit/grpc/in-process";
import { serveGrpc } from "@tessera/kit/grpc/server";
import { createHealth } from "@tessera/kit/health";
import { type RunningService, type Served, startService } from "@tessera/kit/lifecycle";
import type { Log } from "@tessera/kit/log";
import { createMetrics, type Metrics } from "@tessera/kit/metrics";
import { serveOperations } from "@tessera/kit/operations-server";
import { roleOf } from "@tessera/kit/pg/provision";
import type { Implementation, Transport } from "@tessera/kit/rpc";
import { startTracing } from "@tessera/kit/trace";
import { topics } from "@tessera/protos/topics";
import { loadServices, services } from "./services.ts";

export interface PlatformOptions {
  readonly names: readonly string[];
  readonly environment: Environment;
  readonly databaseUrl: string;
  readonly transport: "grpc" | "inprocess";
  readonly operations: { readonly host: string; readonly port: number };
  /** Where this process serves gRPC when it is one of many; in one process every service takes a free port. */
  readonly grpc: { readonly host: string; readonly port: number };
  readonly log: Log;
}

export interface RunningPlatform {
  readonly operationsPort: number;
  /** A way to one of the running services. */
  transportTo(name: string): Transport;
  /** Not ready, then no new requests, then no calls, consumers, relays, pools: in this order. */
  stop(): Promise<void>;
}

/** Starts services in this process: one of them as in a pod, or all of them as on a laptop. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { names, log, environment } = options;
  const definitions = await loadServices(names);
  await refuseLostFacts(definitions.map((definition) => definition.name));
  const metrics = createMetrics();
  const observe = observeCalls(metrics);
  const tracing = await startTracing({
    service: names.length === 1 ? (names[0] ?? "tessera") : "tessera",
    endpoint: environment["OTEL_EXPORTER_OTLP_ENDPOINT"],
    log,
  });
  const health = createHealth({ log });
  const bus = memoryBus(definitions.flatMap(({ name, consumes }) => consumes.map((topic) => ({ group: name, topic }))));
  const network = options.transport === "grpc" ? socketNetwork(options, observe) : processNetwork(log, observe);
  const running: RunningService[] = [];
  const operations = await serveOperations({ ...options.operations, health, metrics, log });

  const stop = async () => {
    health.draining();
    await Promise.all(running.map((service) => service.drain()));
    await Promise.all(running.map((service) => service.refuseCalls()));
    await bus.close();
    for (const service of [...running].reverse()) await service.stop();
    await network.close();
    await operations.close();
    await tracing.shutdown();
  };
  try {
    for (const definition of definitions) {
      running.push(
        await startService(definition, {
          environment,
          databaseUrl: options.databaseUrl,
          role: roleOf(definition.schema),
          bus,
          clock: systemClock,
          log,
          metrics,
          tracing,
          health,
          owns: Object.values(topics)
            .filter((topic) => topic.owner === definition.name)
            .map((topic) => topic.name),
          transportTo: network.transportTo,
          serve: (implementations) => network.serve(definition.name, implementations),
        }),
      );
    }
    health.startedUp();
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return { operationsPort: operations.port, transportTo: network.transportTo, stop };
}

/** The memory bus reaches only this process: a consumer elsewhere would never hear of a fact. */
async function refuseLostFacts(running: readonly string[]): Promise<void> {
  const owned = new Map(Object.values(topics).map((topic) => [topic.name, topic.owner]));
  const missing = (await loadServices(Object.keys(services)))
    .filter((service) => !running.includes(service.name))
    .filter((service) => service.consumes.some((topic) => running.includes(owned.get(topic) ?? "")));
  if (missing.length === 0) return;
  const names = missing.map((service) => service.name).join(" and ");
  throw new Fault(
    "unmet",
    "bus_cannot_reach",
    `the memory bus reaches only this process, and ${names} would miss facts of ${running.join(", ")}; serve them together`,
  );
}

/** Counts every call by method and outcome. */
function observeCalls(metrics: Metrics): Observe {
  const calls = metrics.histogram(
    "rpc_seconds",
    "How long calls between services took.",
    ["method", "status"],
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  );
  return ({ path, status, seconds }) => calls.observe({ method: path, status }, seconds);
}

/** How long calls under way may take when a service stops. */
const graceMs = 5000;

interface Network {
  transportTo(name: string): Transport;
  serve(name: string, implementations: readonly Implementation[]): Promise<Served>;
  close(): Promise<void>;
}

function processNetwork(log: Log, observe: Observe): Network {
  const registry = inProcess({ log, observe });
  return {
    transportTo: (name) => registry.transportTo(name),
    async serve(name, implementations) {
      const server = registry.serve(name, implementations);
      return { drain: async () => server.drain(), stop: () => server.stop(graceMs) };
    },
    close: () => registry.close(),
  };
}

/** Real sockets, also between services of one process. Peers elsewhere are found by `<NAME>_ADDRESS`. */
function socketNetwork(options: PlatformOptions, observe: Observe): Network {
  const { names, log, environment } = options;
  const single = !names.includes("all") && names.length === 1;
  const ports = new Map<string, number>();
  const transports = new Map<string, Transport>();
  const addressOf = (name: string): string => {
    const port = ports.get(name);
    if (port !== undefined) return `127.0.0.1:${port}`;
    const setting = `${name.replaceAll("-", "_").toUpperCase()}_ADDRESS`;
    const address = environment[setting];
    if (address === undefined)
      throw new Fault("unmet", "no_address", `${setting} is required: where ${name} serves gRPC`);
    return address;
  };
  return {
    transportTo(name) {
      // Resolved at the first call: a peer in this process may start later.
      const lazy: Transport = {
        call(method, request, callOptions) {
          let transport = transports.get(name);
          if (transport === undefined) {
            transport = grpcTransport({ address: addressOf(name), log });
            transports.set(name, transport);
          }
          return transport.call(method, request, callOptions);
        },
        close: async () => {},
      };
      return lazy;
    },
    async serve(name, implementations) {
      const server = await serveGrpc({
        host: single ? options.grpc.host : "127.0.0.1",
        port: single ? options.grpc.port : 0,
        implementations,
        log,
        observe,
      });
      ports.set(name, server.port);
      return { drain: async () => server.drain(), stop: () => server.stop(graceMs) };
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
    },
  };
}
