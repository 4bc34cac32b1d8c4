import { createServer, type Server } from "node:net";
import { isFree } from "@tessera/cli/serve/choose-port";
import { planProcesses, type Replicas, usualReplicas } from "@tessera/dev/cluster/plan";

const host = "127.0.0.1";

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
    if ((await Promise.all(ports.map((port) => isFree(port, host)))).every(Boolean)) return firstPort;
    claim.close();
  }
  throw new Error("no ports are free");
}

/** Holds a port; this does not keep the process alive. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.unref();
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}

/** Free ports outside of the range of outgoing connections: while nothing listens there, another connection must not take them. */
export async function findSteadyPorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let port = 20_000 + Math.floor(Math.random() * 8000); found.length < count; port += 1)
    if (await isFree(port, host)) found.push(port);
  return found;
}
