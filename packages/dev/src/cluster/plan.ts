import { readPort } from "@tessera/cli/command/options";
import { fault } from "@tessera/cli/faults";
import { addressSetting } from "@tessera/cli/serve/grpc-addresses";
import { services } from "@tessera/cli/services";

/** One process of a cluster on this machine, and its ports. */
export interface PlannedProcess {
  /** For instance checkin-2. */
  readonly name: string;
  readonly service: string;
  readonly ports: { readonly operations: number; readonly grpc: number; readonly http?: number };
}

/** How many processes serve each service. */
export type Replicas = Readonly<Record<string, number>>;

const gatesNeed: readonly string[] = ["checkin", "gateway"];

/** Two of the services that gates need, so that gates do not notice the end of one process. */
export const usualReplicas: Replicas = Object.fromEntries(
  Object.keys(services).map((name) => [name, gatesNeed.includes(name) ? 2 : 1]),
);

const host = "127.0.0.1";

/** Gives every process its ports: REST from the first port on, health 100 above, gRPC 200 above. */
export function planProcesses(replicas: Replicas, { firstPort }: { firstPort: number }): PlannedProcess[] {
  const planned = Object.entries(replicas).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index) => ({ service, index })),
  );
  return planned.map(({ service, index }, offset) => ({
    name: `${service}-${index + 1}`,
    service,
    ports: {
      operations: firstPort + 100 + offset,
      grpc: firstPort + 200 + offset,
      ...(service === "gateway" ? { http: firstPort + index } : {}),
    },
  }));
}

/** Reads the first port. It leaves room for those above it. */
export function readFirstPort(text: string): number {
  const firstPort = readPort("--port", text);
  const highest = Math.max(...planProcesses(usualReplicas, { firstPort }).flatMap(({ ports }) => Object.values(ports)));
  if (highest <= 65_535) return firstPort;
  const above = highest - firstPort;
  throw fault("bad_port", `--port takes at most ${65_535 - above}: health and gRPC take ports up to ${above} above it`);
}

/** The settings with the addresses of all replicas of each service. */
export function peerAddresses(processes: readonly PlannedProcess[]): Record<string, string> {
  const byService = Map.groupBy(processes, ({ service }) => service);
  return Object.fromEntries(
    [...byService].map(([service, replicas]) => [
      addressSetting(service),
      `ipv4:${replicas.map(({ ports }) => `${host}:${ports.grpc}`).join(",")}`,
    ]),
  );
}

/** The environment of one process. */
export function environmentOf(
  { ports }: PlannedProcess,
  options: { peers: Record<string, string>; shared: Readonly<Record<string, string>> },
): Record<string, string> {
  return {
    ...options.shared,
    ...options.peers,
    HTTP_HOST: host,
    GRPC_HOST: host,
    GRPC_PORT: String(ports.grpc),
    METRICS_HOST: host,
    METRICS_PORT: String(ports.operations),
    ...(ports.http === undefined ? {} : { HTTP_PORT: String(ports.http) }),
  };
}
