/** One process of a cluster on this machine, and where it listens. */
export interface PlannedProcess {
  /** For instance checkin-2. */
  readonly name: string;
  readonly service: string;
  readonly ports: { readonly operations: number; readonly grpc: number; readonly http?: number };
}

/** How many processes serve each service. */
export type Replicas = Readonly<Record<string, number>>;

/** Two where the work is at the gates, so that one may go without anybody noticing. */
export const usualReplicas: Replicas = { boxoffice: 1, checkin: 2, gateway: 2 };

const host = "127.0.0.1";

/** Gives every process its ports: REST from the first port on, health 100 above, gRPC 200 above. */
export function planProcesses(replicas: Replicas, { firstPort }: { firstPort: number }): PlannedProcess[] {
  const services = Object.entries(replicas).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index) => ({ service, index })),
  );
  return services.map(({ service, index }, place) => ({
    name: `${service}-${index + 1}`,
    service,
    ports: {
      operations: firstPort + 100 + place,
      grpc: firstPort + 200 + place,
      ...(service === "gateway" ? { http: firstPort + index } : {}),
    },
  }));
}

/** What the environment of every process says about its peers: all addresses of each service. */
export function peerAddresses(processes: readonly PlannedProcess[]): Record<string, string> {
  const byService = Map.groupBy(processes, ({ service }) => service);
  return Object.fromEntries(
    [...byService].map(([service, replicas]) => [
      `${service.replaceAll("-", "_").toUpperCase()}_ADDRESS`,
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
