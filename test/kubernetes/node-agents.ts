import { mkdir, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EngineProcess, startProcess } from "@tessera/testkit/engines/engine-process";
import getPort from "get-port";
import { networkPlugins, podNetwork } from "./node-network.ts";
import { runTool } from "./run-tool.ts";

/** The agents of a node, and its own containers. All nodes are on this machine, and share its network. */
export interface NodeAgents {
  readonly name: string;
  /** Loads an image from an archive of Docker's form. */
  importImage(archive: string): Promise<void>;
  stop(): Promise<void>;
}

/** The names of nodes lead the API server to their kubelets, which listen on this machine alone. */
export const nodes = [
  { name: "localhost", address: "127.0.0.1" },
  { name: "127.0.0.2", address: "127.0.0.2" },
] as const;
type Node = (typeof nodes)[number];

const pause = "localhost/pause:1";

/** The weight of all pods of a node beside another process of this machine, which has 1024. */
const processorShares = 10_240;

interface NodeOptions {
  readonly programs: string;
  /** Of the whole cluster. */
  readonly directory: string;
  readonly kubeconfig: string;
  /** Profiles of system calls that pods may name, by their files. */
  readonly profiles: Readonly<Record<string, string>>;
}

/** Starts containerd and a kubelet for a node, and waits until the node is known; it is ready some seconds later. */
export async function startNodeAgents(node: Node, options: NodeOptions): Promise<NodeAgents> {
  const { programs, kubeconfig } = options;
  const directory = join(options.directory, `node-${node.address}`);
  const socket = join(directory, "containerd.sock");
  const settings = await writeSettings(node, { ...options, directory, socket });
  const started: EngineProcess[] = [];
  const stop = async () => {
    for (const engine of started.splice(0).reverse()) await engine.end("SIGTERM");
  };
  const importImage = async (archive: string) => {
    await runTool("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "import", archive], { minutes: 10 });
  };
  try {
    const begin = async (program: string, args: readonly string[], isReady: () => Promise<boolean>) =>
      void started.push(await startProcess({ program, args, cwd: directory, isReady, longestStartMs: 180_000 }));
    await begin("containerd", ["--config", settings.containerd], async () => {
      await runTool("ctr", ["--address", socket, "version"]);
      return true;
    });
    await importPause(programs, directory, importImage);
    const names = ["--hostname-override", node.name, "--kubeconfig", kubeconfig];
    const kubelet = [...names, "--config", settings.kubelet, "--root-dir", join(directory, "kubelet")];
    await begin(join(programs, "kubelet"), kubelet, async () => {
      await runTool(join(programs, "kubectl"), ["--kubeconfig", kubeconfig, "get", "node", node.name]);
      return true;
    });
    return { name: node.name, importImage, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts what leads the addresses of Services to pods, for all nodes at once. */
export async function startServiceProxy({
  programs,
  directory,
  kubeconfig,
}: Omit<NodeOptions, "profiles">): Promise<EngineProcess> {
  const [health, metrics] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
  const flags = {
    "hostname-override": nodes[0].name,
    kubeconfig,
    "proxy-mode": "nftables",
    "cluster-cidr": podNetwork.range,
    "healthz-bind-address": `127.0.0.1:${health}`,
    "metrics-bind-address": `127.0.0.1:${metrics}`,
  };
  return startProcess({
    program: join(programs, "kube-proxy"),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    cwd: directory,
    isReady: async () => (await fetch(`http://127.0.0.1:${health}/livez`)).ok,
    longestStartMs: 180_000,
  });
}

async function writeSettings(
  node: Node,
  { directory, profiles, socket, ...cluster }: NodeOptions & { readonly socket: string },
): Promise<{ containerd: string; kubelet: string }> {
  const write = async (path: string, text: string) => {
    await mkdir(join(directory, path, ".."), { recursive: true });
    await writeFile(join(directory, path), text);
    return join(directory, path);
  };
  const taken = join(directory, "..", "addresses");
  await write("network/pods.conflist", JSON.stringify(networkPlugins(taken)));
  for (const [name, text] of Object.entries(profiles)) await write(`kubelet/seccomp/${name}`, text);
  return {
    containerd: await write("containerd.toml", containerdSettings(directory, socket)),
    kubelet: await write(
      "kubelet.json",
      JSON.stringify(await kubeletSettings(node, { ...cluster, directory, socket })),
    ),
  };
}

function containerdSettings(directory: string, socket: string): string {
  return `version = 2
root = "${directory}/containerd"
state = "${directory}/containerd-state"
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${pause}"
# A machine that is itself a container may not lower the score.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${directory}/network"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}

async function kubeletSettings(
  { address }: Node,
  { directory, socket }: { readonly directory: string; readonly socket: string },
): Promise<object> {
  const least = "1%";
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    port: await getPort({ host: address }),
    healthzPort: 0,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${socket}`,
    // A kubelet ends pods in its groups that it does not know, and deletes their logs.
    cgroupRoot: await makeControlGroup(`${groupPrefix}${address}`),
    podLogsDir: join(directory, "logs"),
    cgroupDriver: "cgroupfs",
    // Machines of both kinds run this, and those with swap too.
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    enforceNodeAllocatable: [],
    evictionHard: { "memory.available": least, "nodefs.available": least, "imagefs.available": least },
    imageGCHighThresholdPercent: 100,
    // Rules that outlive it, and that kube-proxy does not need.
    makeIPTablesUtilChains: false,
    clusterDNS: [podNetwork.address],
    clusterDomain: "cluster.local",
    // By default a node with as many pods as this one repeats a failed probe late.
    maxPods: 60,
  };
}

/** An image of one program, which keeps the network of a pod. */
async function importPause(
  programs: string,
  directory: string,
  importImage: (archive: string) => Promise<void>,
): Promise<void> {
  const archive = join(directory, "pause.tar");
  await rm(archive, { force: true });
  const container = (await runTool("buildah", ["from", "scratch"])).trim();
  try {
    await runTool("buildah", ["copy", "--quiet", container, join(programs, "pause"), "/pause"]);
    await runTool("buildah", ["config", "--entrypoint", '["/pause"]', "--user", "65535:65535", container]);
    await runTool("buildah", ["commit", "--quiet", container, `docker-archive:${archive}:${pause}`]);
  } finally {
    await runTool("buildah", ["rm", container]);
  }
  await importImage(archive);
}

/** Ends what runs in pods of a cluster, which outlives kubelet and containerd, and unmounts its files. */
export async function removePods(directory: string): Promise<void> {
  for (const pid of await findProcesses(
    (command) => command.includes("containerd-shim") && command.includes(directory),
  )) {
    for (const child of await findChildren(pid)) end(child);
    end(pid);
  }
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(200)) {
    const mounts = (await readFile("/proc/self/mounts", "utf8")).split("\n").map((line) => line.split(" ")[1] ?? "");
    const ours = mounts.filter((path) => path.startsWith(`${directory}/`)).reverse();
    if (ours.length === 0) break;
    for (const path of ours) await runTool("umount", ["--lazy", path]).catch(() => {});
  }
  for (const entry of await readdir("/run/netns").catch(() => []))
    if (entry.startsWith("cni-")) await runTool("ip", ["netns", "delete", entry]).catch(() => {});
  for (const group of await controlGroups()) await removeGroup(group);
  await removeLinks(directory);
}

/** Names of logs by container lead to the logs of a cluster. */
async function removeLinks(directory: string): Promise<void> {
  const folder = "/var/log/containers";
  for (const name of await readdir(folder).catch(() => [])) {
    const target = await readlink(join(folder, name)).catch(() => "");
    if (target.startsWith(`${directory}/`)) await rm(join(folder, name), { force: true });
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

async function findProcesses(matches: (command: string) => boolean): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      command: await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    })),
  );
  return commands.filter(({ command }) => matches(command)).map(({ pid }) => pid);
}

async function findChildren(parent: number): Promise<number[]> {
  const text = await readFile(`/proc/${parent}/task/${parent}/children`, "utf8").catch(() => "");
  const children = text
    .split(" ")
    .filter((word) => word !== "")
    .map(Number);
  return (await Promise.all(children.map(async (child) => [child, ...(await findChildren(child))]))).flat();
}

const groupsFolder = "/sys/fs/cgroup";
const groupPrefix = "tessera-node-";

/** One folder, or one for each controller. */
async function groupRoots(): Promise<string[]> {
  const roots = await readdir(groupsFolder, { withFileTypes: true });
  const areSeparate = roots.some(({ name }) => name === "memory");
  return areSeparate
    ? roots.filter((entry) => entry.isDirectory()).map(({ name }) => join(groupsFolder, name))
    : [groupsFolder];
}

/** Makes the group of a node, which its pods share, and returns its name. */
async function makeControlGroup(name: string): Promise<string> {
  for (const root of await groupRoots()) {
    await mkdir(join(root, name), { recursive: true });
    const [shares, weight] = [join(root, name, "cpu.shares"), join(root, name, "cpu.weight")];
    if (await exists(shares)) await writeFile(shares, String(processorShares));
    // Here a process has 100.
    else if (await exists(weight)) await writeFile(weight, String(Math.round((processorShares / 1024) * 100)));
  }
  return `/${name}`;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function controlGroups(): Promise<string[]> {
  const found = await Promise.all(
    (await groupRoots()).map(async (root) =>
      (await readdir(root)).filter((name) => name.startsWith(groupPrefix)).map((name) => join(root, name)),
    ),
  );
  return found.flat();
}

/** An empty one can be removed. */
async function removeGroup(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(path, entry.name));
  await runTool("rmdir", [path]).catch(() => {});
}
