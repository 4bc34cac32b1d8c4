import { setTimeout as sleep } from "node:timers/promises";
import type { Observe } from "@tessera/engines/grpc/answer-call";
import { startTracing } from "@tessera/engines/tracing";
import { isErasedByKey } from "@tessera/events/personal-data/erased-kinds";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { roleOf } from "@tessera/kit/pg/provision";
import type { Transport } from "@tessera/kit/rpc";
import type { ServiceDefinition } from "@tessera/kit/service";
import { createHealth } from "@tessera/kit/service/health";
import { type RunningService, startService } from "@tessera/kit/service/lifecycle";
import type { Log } from "@tessera/kit/telemetry/log";
import { createMetrics, type Metrics } from "@tessera/kit/telemetry/metrics";
import { topics } from "@tessera/protos/topics";
import { engineSettings, processSettings } from "../configuration/engine-settings.ts";
import { fault } from "../faults.ts";
import { loadServices, services } from "../services.ts";
import { version } from "../version.ts";
import { type Network, processNetwork, socketNetwork } from "./network.ts";
import { openBus, openCache, openFiles } from "./open-engines.ts";
import { serveOperations } from "./operations-server.ts";
import { secureCalls } from "./secure-calls.ts";

export interface PlatformOptions {
  readonly names: readonly string[];
  readonly environment: Environment;
  readonly databaseUrl: string;
  /** How services call each other; services of one process need no socket. */
  readonly transport?: "grpc" | "inprocess";
  /** Health and metrics; 0 takes a free port. */
  readonly operationsPort: number;
  readonly log: Log;
}

export interface RunningPlatform {
  readonly operationsPort: number;
  /** Calls one of the running services. */
  transportTo(name: string): Transport;
  /** Ends in this order: readiness, new requests, calls, consumers, relays, pools. */
  stop(): Promise<void>;
}

/** Starts services in this process: one as in a pod, or all as on a laptop. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { log, environment } = options;
  const config = readConfig({ ...processSettings, ...engineSettings }, environment);
  const definitions = await loadServices(options.names);
  const names = definitions.map((definition) => definition.name);
  if (config.bus === "memory") await refuseLostFacts(names);
  // Before anything is opened, so that all mistakes are reported at once.
  for (const { settings } of definitions) readConfig(settings, environment);
  const metrics = createMetrics();
  metrics.gauge("build_info", "The version of this process; always 1.", () => 1, {
    version,
    node: process.versions.node,
  });
  const observe = observeCalls(metrics);
  const health = createHealth({ log });
  const isWhole = names.length === Object.keys(services).length;
  if (options.transport === "inprocess" && !isWhole)
    throw fault("peers_elsewhere", "--transport=inprocess reaches only this process; serve all in it");
  const openNetwork = async (): Promise<Network> => {
    if ((options.transport ?? (isWhole ? "inprocess" : "grpc")) === "inprocess")
      return processNetwork({ log, observe });
    const needs = [...new Set(definitions.flatMap((definition) => definition.needs))];
    const optional = definitions.flatMap((definition) => definition.optional ?? []);
    const shared = { names, needs, optional, environment, ageMs: config.grpcMaxAge, log, observe };
    // Shops call a service by gRPC even if all services are in one process.
    if (isWhole && !environment["GRPC_PORT"]) return socketNetwork({ ...shared, endpoint: undefined });
    const peers = needs.filter((peer) => !names.includes(peer));
    const security = await secureCalls(config, { names, peers, environment, log, metrics });
    return socketNetwork({ ...shared, endpoint: { host: config.grpcHost, port: config.grpcPort }, security });
  };
  const network = await openNetwork();
  const tracing = await startTracing({
    service: names.length === 1 ? (names[0] ?? "tessera") : "tessera",
    endpoint: config.traces,
    log,
  });
  const opened: { close(): Promise<unknown> }[] = [{ close: () => tracing.shutdown() }];
  const open = async <T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> => {
    try {
      const part = await opening;
      opened.push(part);
      return part;
    } catch (error) {
      // Open parts would keep the process alive.
      for (const part of opened.reverse()) await part.close().catch(() => {});
      throw error;
    }
  };
  const operations = await open(
    serveOperations({ host: config.metricsHost, port: options.operationsPort, health, metrics, log }),
  );
  const bus = await open(openBus(config, { definitions, log }));
  const cache = await open(openCache(config, { log, metrics }));
  const files = await open(openFiles(config));
  const running: RunningService[] = [];

  const stop = async () => {
    health.draining();
    for (const service of running) service.leave();
    await sleep(config.shutdownDelay);
    await Promise.all(running.map((service) => service.drain()));
    await Promise.all(running.map((service) => service.refuseCalls()));
    await bus.close();
    for (const service of [...running].reverse()) await service.stop();
    await network.close();
    await Promise.all([cache.close(), files.close()]);
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
          cache,
          files,
          log,
          metrics,
          tracing: tracing.of(definition.name),
          health,
          isErased: isErasedByKey,
          owns: Object.values(topics).filter((topic) => topic.owner === definition.name),
          deadLettersMs: config.parkedFactsKept,
          transportTo: network.transportTo,
          isInstalled: network.isInstalled,
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

/** The memory bus works within one process only. */
export async function refuseLostFacts(running: readonly string[]): Promise<void> {
  const owned = new Map(Object.values(topics).map((topic) => [topic.name, topic.owner]));
  const ownersFor = (service: ServiceDefinition) => service.consumes.flatMap((topic) => owned.get(topic) ?? []);
  const all = await loadServices(Object.keys(services));
  const optional = all.flatMap((service) => service.optional ?? []);
  // A service that does not run here need not run anywhere; its own process would be refused.
  const expected = all.filter(({ name }) => running.includes(name) || !optional.includes(name));
  const lost = expected.flatMap((service) =>
    ownersFor(service)
      .filter((owner) => running.includes(owner) !== running.includes(service.name))
      .map((owner) => `${service.name} would miss facts of ${owner}`),
  );
  if (lost.length === 0) return;
  throw fault(
    "bus_cannot_reach",
    `the memory bus reaches only this process, and ${[...new Set(lost)].join(", ")}; set BUS=kafka, or serve them together`,
  );
}

/** Counts every call by method and outcome. */
function observeCalls(metrics: Metrics): Observe {
  const calls = metrics.histogram(
    "rpc_duration_seconds",
    "Time that calls between services took.",
    ["method", "status"],
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  );
  return ({ path, status, seconds }) => calls.observe({ method: path, status }, seconds);
}
