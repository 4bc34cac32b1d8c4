import { environmentOf, peerAddresses, planProcesses, type Replicas, usualReplicas } from "./plan.ts";
import { type ClusterProcess, clusterProcess } from "./start-process.ts";

export interface ClusterOptions {
  /** REST from here on, health 100 above, gRPC 200 above. */
  readonly firstPort: number;
  readonly replicas?: Replicas;
  /** The environment of every process: database, engines, operator key. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a process has beside it, by its service and its own name, for instance checkin-2. */
  readonly environmentOf?: (service: string, process: string) => Readonly<Record<string, string>>;
  /** Options of Node beside the usual ones. */
  readonly nodeOptions?: readonly string[];
  /** Gets the lines that processes print. */
  readonly onLine: (process: string, line: string) => void;
}

export interface Cluster {
  readonly processes: readonly ClusterProcess[];
  /** Where the gateways answer. */
  readonly baseUrls: readonly string[];
  /** Stops the gateways first, then the services that they call. */
  stop(): Promise<void>;
}

/** Starts one process per replica of every service. Database and engines must run and be prepared. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const plans = planProcesses(options.replicas ?? usualReplicas, options);
  const peers = peerAddresses(plans);
  const processes = plans.map((plan) =>
    clusterProcess(plan, {
      environment: {
        ...environmentOf(plan, { peers, shared: options.environment }),
        ...options.environmentOf?.(plan.service, plan.name),
      },
      nodeOptions: options.nodeOptions,
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
