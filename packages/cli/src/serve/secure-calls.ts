import { type Certificates, watchCertificates } from "@tessera/engines/grpc/certificates";
import type { Callers } from "@tessera/engines/grpc/refuse-strangers";
import type { TlsFiles } from "@tessera/engines/tls-files";
import type { Config, Environment } from "@tessera/kit/config/config";
import { callersOf } from "@tessera/kit/service";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { processSettings } from "../configuration/engine-settings.ts";
import { fault } from "../faults.ts";
import { clientMaps, outsideCallers } from "../services.ts";
import { addressSetting, grpcTarget } from "./grpc-addresses.ts";

/** Encryption and authentication of calls between processes (mutual TLS). */
export interface CallSecurity {
  readonly certificates: Certificates;
  /** The DNS name in the certificates of a service. */
  nameOf(service: string): string;
  /** The names of the callers of a service, by method. */
  callersOf(service: string): Callers;
}

type ProcessConfig = Pick<
  Config<typeof processSettings>,
  "grpcHost" | "grpcInsecure" | "grpcTlsAuthority" | "grpcTlsCertificate" | "grpcTlsKey"
>;

/** The addresses that a process with these services listens on and calls. */
interface Calls {
  readonly names: readonly string[];
  /** The services that it calls elsewhere. */
  readonly peers: readonly string[];
  readonly environment: Environment;
}

/** Opens the certificates of a process; undefined: it needs none. */
export async function secureCalls(
  config: ProcessConfig,
  { log, metrics, ...calls }: Calls & { readonly log: Log; readonly metrics: Metrics },
): Promise<CallSecurity | undefined> {
  const files = requireSecure(config, calls);
  if (files === undefined) return undefined;
  const nameOf = (service: string) => certificateName(service, calls.environment);
  const inside = Object.entries(clientMaps).map(async ([name, load]) => ({ name, clients: await load() }));
  const outside = Object.entries(outsideCallers).map(([name, clients]) => ({ name, clients }));
  const definitions = [...(await Promise.all(inside)), ...outside];
  const certificates = watchCertificates({ files, names: calls.names.map(nameOf), log });
  reportValidity(certificates, metrics);
  return {
    certificates,
    nameOf,
    callersOf: (service) =>
      new Map([...callersOf(service, definitions)].map(([path, callers]) => [path, callers.map(nameOf)])),
  };
}

function reportValidity(certificates: Certificates, metrics: Metrics): void {
  metrics.gauge(
    "certificate_begins_timestamp_seconds",
    "From when the certificate for calls between services is valid.",
    () => certificates.validity().begins.getTime() / 1000,
  );
  metrics.gauge(
    "certificate_ends_timestamp_seconds",
    "Until when the certificate for calls between services is valid.",
    () => certificates.validity().ends.getTime() / 1000,
  );
}

/** The files for calls between processes: all three, or none. */
export function tlsFilesOf(config: ProcessConfig): Required<TlsFiles> | undefined {
  const { grpcTlsAuthority: authority, grpcTlsCertificate: certificate, grpcTlsKey: key } = config;
  if (authority !== undefined && certificate !== undefined && key !== undefined) return { authority, certificate, key };
  if (authority === undefined && certificate === undefined && key === undefined) return undefined;
  throw refusal(["GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA go together; set all three or none"]);
}

/** The setting with the DNS name in the certificates of a service; by default it is the name of the service. */
export function certificateNameSetting(service: string): string {
  return `${service.replaceAll("-", "_").toUpperCase()}_TLS_NAME`;
}

export function certificateName(service: string, environment: Environment): string {
  return environment[certificateNameSetting(service)] || service;
}

/** Lists the settings by which calls would leave this machine, or arrive from others. */
export function findOutsideCalls(
  { grpcHost }: Pick<ProcessConfig, "grpcHost">,
  { peers, environment }: Calls,
): string[] {
  const called = peers.map(addressSetting).filter((name) => leavesMachine(environment[name] ?? ""));
  return [...(isOwnHost(grpcHost) ? [] : ["GRPC_HOST"]), ...called];
}

/** Returns the TLS files; undefined: calls stay on this machine, or may be unencrypted. Otherwise throws. */
export function requireSecure(config: ProcessConfig, calls: Calls): Required<TlsFiles> | undefined {
  const files = tlsFilesOf(config);
  const outside = files === undefined && config.grpcInsecure === "refuse" ? findOutsideCalls(config, calls) : [];
  if (outside.length === 0) return files;
  throw refusal(
    outside.map(
      (name) =>
        `${name} reaches other machines, and calls would be neither encrypted nor checked; set GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA, or GRPC_INSECURE=allow where a service mesh does both`,
    ),
  );
}

function refusal(lines: readonly string[]): Error {
  return fault("configuration_invalid", `configuration:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

function leavesMachine(address: string): boolean {
  if (address === "") return false;
  const target = grpcTarget(address);
  if (target.startsWith("unix:")) return false;
  const endpoints = target.replace(/^(?:dns:(?:\/\/[^/]*\/)?|ipv[46]:)/, "").split(",");
  return !endpoints.every((endpoint) => isOwnHost(endpoint.replace(/:\d+$/, "")));
}

/** Whether a host means this machine for every caller. */
export function isOwnHost(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}
