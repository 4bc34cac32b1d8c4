import { planProcesses, type Replicas, usualReplicas } from "@tessera/dev/cluster/plan";
import { isFree, listen } from "@tessera/dev/cluster/start-cluster";

const portsPerCluster = 300;

/**
 * Finds a first port for a cluster, outside of the range of outgoing connections: while a process is dead, another
 * connection must not take its port. This process holds the last port of the range until it ends, so that no other
 * cluster chooses the range.
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
