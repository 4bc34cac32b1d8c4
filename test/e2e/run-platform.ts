import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPlatform } from "@tessera/cli/serve/platform";
import { services } from "@tessera/cli/services";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { startCluster } from "@tessera/dev/cluster/start-cluster";
import { createLog } from "@tessera/kit/telemetry/log";
import { createAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { redisOfThisRun } from "@tessera/testkit/engines/redis-of-this-run";
import getPort from "get-port";
import { findFirstPort } from "./find-ports.ts";

/**
 * How the platform under test runs: in this process over one of the transports, as one process per part on real engines, or
 * installed by others.
 */
export type PlatformKind = "inprocess" | "grpc" | "processes" | "installed";

const named = process.env["PLATFORM"];
const apart = named === "processes" || named === "installed" ? named : undefined;

/** The kind of this run of the suite, and the one for those whose calls must cross sockets. */
export const kindOfRun: PlatformKind = apart ?? "inprocess";
export const kindOverSockets: PlatformKind = apart ?? "grpc";

export interface RunningParts {
  /** The addresses of the gateways. */
  readonly baseUrls: readonly string[];
  /** What links in answers begin with, if that is not the address of a gateway. */
  readonly publicUrl?: string;
  /** The address of health and metrics, if it runs in this process. */
  readonly operationsUrl?: string;
  /** How servers of the outside call its services, if calls cross sockets. */
  readonly outside?: Outside;
  /** The brokers of its bus, if it is not in this process. */
  readonly kafka?: { readonly brokers: string; readonly topicPrefix: string };
  stop(): Promise<void>;
}

interface Outside {
  addressOf(service: string): string;
  /** The files of a certificate with this name. */
  certify(name: string): ReturnType<typeof writeCertificate>;
}

export interface PartsOptions {
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly onLogLine: (line: string) => void;
}

/** Runs the platform on a database with its schemas. */
export function runPlatform(kind: PlatformKind, options: PartsOptions): Promise<RunningParts> {
  if (kind === "installed") return findInstalled().follow(options);
  return kind === "processes" ? runProcesses(options) : runHere(kind, options);
}

/** A platform that runs before tests begin, with the operator's key of the sample records. */
export interface InstalledPlatform {
  readonly databaseUrl: string;
  /** Passes its log lines on, from now on and those before. */
  follow(options: Pick<PartsOptions, "onLogLine">): Promise<RunningParts>;
}

let installed: InstalledPlatform | undefined;

/** Names the platform that tests of this process use where PLATFORM is `installed`. */
export function useInstalled(platform: InstalledPlatform): void {
  installed = platform;
}

export function findInstalled(): InstalledPlatform {
  if (installed === undefined) throw new Error("no platform was named: call useInstalled before the tests");
  return installed;
}

async function runHere(transport: "inprocess" | "grpc", options: PartsOptions): Promise<RunningParts> {
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  const sockets = transport === "grpc" ? await openSockets() : undefined;
  const platform = await startPlatform({
    names: ["all"],
    environment: {
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      BASE_URL: baseUrl,
      ...sockets?.environment,
      ...options.environment,
    },
    databaseUrl: options.databaseUrl,
    transport,
    operationsPort: 0,
    log: createLog({ service: "tessera", level: "debug", destination: { write: options.onLogLine } }),
  });
  return {
    baseUrls: [baseUrl],
    operationsUrl: `http://127.0.0.1:${platform.operationsPort}`,
    ...(sockets === undefined ? {} : { outside: sockets.outside }),
    async stop() {
      await platform.stop();
      await sockets?.close();
    },
  };
}

/** Services of one process have one certificate, and their ports in the order of the services. */
async function openSockets() {
  const [firstPort, certificates, names] = [await findFirstPort(), await openAuthority(), Object.keys(services)];
  return {
    environment: { GRPC_PORT: String(firstPort), ...(await certificates.settingsOf(...names)) },
    outside: {
      addressOf: (service: string) => `127.0.0.1:${firstPort + names.indexOf(service)}`,
      certify: (name: string) => certificates.issue(name),
    },
    close: () => certificates.remove(),
  };
}

async function runProcesses(options: PartsOptions): Promise<RunningParts> {
  const firstPort = await findFirstPort();
  // Separates the topics and keys of this platform from those of others on the same engines.
  const name = `test-${randomUUID()}`;
  const engines = {
    BUS: "kafka",
    KAFKA_BROKERS: kafkaOfThisRun(),
    KAFKA_TOPIC_PREFIX: `${name}.`,
    CACHE: "redis",
    REDIS_URL: redisOfThisRun(),
    REDIS_PREFIX: `${name}:`,
  };
  await applyCatalogue(engines);
  const certificates = await openAuthority();
  const settings = new Map(
    await Promise.all(
      Object.keys(services).map(async (service) => [service, await certificates.settingsOf(service)] as const),
    ),
  );
  const cluster = await startCluster({
    firstPort,
    environment: {
      DATABASE_URL: options.databaseUrl,
      BASE_URL: `http://127.0.0.1:${firstPort}`,
      LOG_LEVEL: "debug",
      ...engines,
      ...options.environment,
    },
    environmentOf: (service) => settings.get(service) ?? {},
    onLine: (_process, line) => options.onLogLine(line),
  });
  const stop = async () => {
    await cluster.stop();
    await certificates.remove();
  };
  const kafka = { brokers: engines.KAFKA_BROKERS, topicPrefix: engines.KAFKA_TOPIC_PREFIX };
  const addressOf = (service: string) => {
    const found = cluster.processes.find(({ plan }) => plan.service === service);
    return `127.0.0.1:${found?.plan.ports.grpc}`;
  };
  return { baseUrls: cluster.baseUrls, outside: { addressOf, certify: certificates.issue }, kafka, stop };
}

/** Issues certificates: no call works that is not declared. */
async function openAuthority() {
  const directory = await mkdtemp(join(tmpdir(), "tessera-certificates-"));
  const authority = await createAuthority();
  const issue = async (...names: string[]) => {
    const issued = await authority.issue({ names });
    return writeCertificate(join(directory, names.join("+")), { ...issued, authority: authority.certificate });
  };
  return {
    issue,
    async settingsOf(...names: string[]): Promise<Record<string, string>> {
      const files = await issue(...names);
      return { GRPC_TLS_CERT: files.certificate, GRPC_TLS_KEY: files.key, GRPC_TLS_CA: files.authority };
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
