import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tryLockDirectory } from "@tessera/embedded-postgres/lock-directory";
import { installKubernetes } from "@tessera/testkit/engines/kubernetes-programs";
import { chart } from "../chart/render-chart.ts";
import { saveImage } from "./build-images.ts";
import { openClusterNames } from "./cluster-names.ts";
import { startControlPlane } from "./control-plane.ts";
import { type MetricsApi, startMetricsApi } from "./metrics-api.ts";
import { type NodeAgents, nodes, removePods, startNodeAgents, startServiceProxy } from "./node-agents.ts";
import { makeNodeNetwork, podNetwork } from "./node-network.ts";
import { runTool } from "./run-tool.ts";

/** A Kubernetes with two nodes, which are this machine. */
export interface Kubernetes {
  readonly kubeconfig: string;
  /** kubectl, and its first arguments. */
  readonly kubectlCommand: readonly string[];
  /** Runs kubectl, and returns what it printed. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** The same with an object as result. */
  get<T>(...args: readonly string[]): Promise<T>;
  /** Creates objects, or changes them. */
  apply(...objects: readonly object[]): Promise<void>;
  /** What autoscalers learn. */
  readonly metrics: MetricsApi;
  /** Loads an image that buildah has into every node. */
  importImage(image: string): Promise<void>;
  /** Leaves no process, mount, network or file. */
  stop(): Promise<void>;
}

/** One per machine: the network of the pods and the paths of sockets are fixed. */
const home = "/var/tmp/tessera-kubernetes";

/** Starts everything. What a killed run has left is removed first. */
export async function startKubernetes(): Promise<Kubernetes> {
  const programs = await installKubernetes();
  await mkdir(home, { recursive: true });
  const lock = await tryLockDirectory(home);
  if (!("release" in lock)) throw new Error(`process ${lock.heldBy} has the cluster of this machine: wait for its end`);
  const directory = join(home, "cluster");
  const undo: (() => Promise<unknown>)[] = [() => lock.release()];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    await removePods(directory);
    await runTool("sh", ["-c", `awk '$2 ~ "^${directory}/" {print $2}' /proc/mounts | tac | xargs -r umount -l`]);
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o711 });
    undo.push(() => rm(directory, { recursive: true, force: true }));
    const network = await makeNodeNetwork();
    undo.push(() => network.remove());
    const api = await startControlPlane(programs, directory);
    undo.push(() => api.stop());
    const names = await openClusterNames(podNetwork.address, api);
    undo.push(() => names.close());
    const profiles = {
      "profiles/chromium.json": await readFile(join(chart, "profiles/chromium.json"), "utf8"),
    };
    const cluster = { programs, directory, kubeconfig: api.kubeconfig, profiles };
    undo.push(() => removePods(directory));
    const agents: NodeAgents[] = [];
    for (const node of nodes) {
      const started = await startNodeAgents(node, cluster);
      agents.push(started);
      undo.push(() => started.stop());
    }
    const proxy = await startServiceProxy(cluster);
    undo.push(() => proxy.end("SIGTERM"));
    const kubectlCommand = [join(programs, "kubectl"), "--kubeconfig", api.kubeconfig] as const;
    const kubectl = (...args: readonly string[]) => {
      const [program, ...given] = kubectlCommand;
      return runTool(program, [...given, ...args], { minutes: 15 });
    };
    await kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=300s");
    const get = async <T>(...args: readonly string[]) => JSON.parse(await kubectl("get", ...args, "-o", "json")) as T;
    const apply = async (...objects: readonly object[]) => {
      const file = join(directory, "objects.json");
      await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }), { mode: 0o600 });
      await kubectl("apply", "--server-side", "--filename", file);
    };
    const metrics = await startMetricsApi({ get, apply });
    undo.push(() => metrics.close());
    return {
      kubeconfig: api.kubeconfig,
      kubectlCommand,
      kubectl,
      get,
      apply,
      metrics,
      async importImage(image) {
        const saved = await saveImage(image);
        try {
          for (const node of agents) await node.importImage(saved.path);
        } finally {
          await saved.remove();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
