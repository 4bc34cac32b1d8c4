import { createServer, type Server } from "node:net";
import { environmentOf, peerAddresses, planProcesses, type Replicas, usualReplicas } from "./plan.ts";
import { type ClusterProcess, clusterProcess } from "./start-process.ts";

export interface ClusterOptions {
  /** REST from here on, health 100 above, gRPC 200 above. */
  readonly firstPort: number;
  readonly replicas?: Replicas;
  /** What every process is told: database, engines, operator key. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes what the processes print. */
  readonly onLine: (process: string, line: string) => void;
}

export interface Cluster {
  readonly processes: readonly ClusterProcess[];
  /** Where the gateways answer. */
  readonly baseUrls: readonly string[];
  /** Stops all processes in order: first who faces the outside, last who is called. */
  stop(): Promise<void>;
}

/** Starts one process per replica of every service, on this machine; database and engines must run and be prepared. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const plans = planProcesses(options.replicas ?? usualReplicas, options);
  const peers = peerAddresses(plans);
  const processes = plans.map((plan) =>
    clusterProcess(plan, {
      environment: environmentOf(plan, { peers, shared: options.environment }),
      onLine: options.onLine,
    }),
  );
  const stop = async () => {
    const [outside, inside] = [processes.filter(isGateway), processes.filter((process) => !isGateway(process))];
    await Promise.all(outside.map((process) => process.stop()));
    await Promise.all(inside.map((process) => process.stop()));
  };
  try {
    await Promise.all(processes.map((process) => process.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  const baseUrls = plans.flatMap(({ ports: { http } }) => (http === undefined ? [] : [`http://127.0.0.1:${http}`]));
  return { processes, baseUrls, stop };
}

function isGateway({ plan }: ClusterProcess): boolean {
  return plan.ports.http !== undefined;
}

const portsPerCluster = 300;

/**
 * Finds a first port for a cluster, outside of the range that outgoing connections take theirs from: while a process is
 * dead, somebody else's connection must not come to own its port. This process keeps the last port of the range to itself
 * as long as it lives, so that no other cluster settles there meanwhile.
 */
export async function findFirstPort(replicas: Replicas = usualReplicas): Promise<number> {
  for (let tried = 0; tried < 50; tried += 1) {
    const firstPort = 10_000 + portsPerCluster * Math.floor(Math.random() * 32);
    const ports = planProcesses(replicas, { firstPort }).flatMap(({ ports: { operations, grpc, http } }) =>
      http === undefined ? [operations, grpc] : [operations, grpc, http],
    );
    const claim = await listen(firstPort + portsPerCluster - 1);
    if (claim === undefined) continue;
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return firstPort;
    claim.close();
  }
  throw new Error("no ports are free");
}

/** Whether nobody listens there. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.unref();
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
