import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EngineProcess, startProcess } from "@tessera/testkit/engines/engine-process";
import getPort from "get-port";
import { networkPlugins, podNetwork } from "./node-network.ts";
import { runTool } from "./run-tool.ts";

/** This machine as a node: containers, kubelet and kube-proxy. */
export interface NodeAgents {
  /** Loads an image from an archive of Docker's form. */
  importImage(archive: string): Promise<void>;
  stop(): Promise<void>;
}

export const nodeName = "localhost";
const pause = "localhost/pause:1";

interface NodeOptions {
  readonly programs: string;
  readonly directory: string;
  readonly kubeconfig: string;
  /** Profiles of system calls that pods may name, by their files. */
  readonly profiles: Readonly<Record<string, string>>;
}

/** Starts the agents of a node; it is ready some seconds later. */
export async function startNodeAgents(options: NodeOptions): Promise<NodeAgents> {
  const { programs, directory, kubeconfig } = options;
  await removePods(directory);
  const socket = join(directory, "containerd.sock");
  const settings = await writeSettings(options, socket);
  const started: EngineProcess[] = [];
  const stop = async () => {
    for (const engine of started.splice(0).reverse()) await engine.end("SIGTERM");
    await removePods(directory);
  };
  const importImage = async (archive: string) => {
    await runTool("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "import", archive], { minutes: 10 });
  };
  try {
    const begin = async (program: string, args: readonly string[], isReady: () => Promise<boolean>) =>
      void started.push(await startProcess({ program, args, cwd: directory, isReady, longestStartMs: 120_000 }));
    await begin("containerd", ["--config", settings.containerd], async () => {
      await runTool("ctr", ["--address", socket, "version"]);
      return true;
    });
    await importPause(programs, directory, importImage);
    const [health, metrics] = [await getPort({ host: "127.0.0.1" }), await getPort({ host: "127.0.0.1" })];
    const names = ["--hostname-override", nodeName, "--kubeconfig", kubeconfig];
    const kubelet = [...names, "--config", settings.kubelet, "--root-dir", join(directory, "kubelet")];
    await begin(join(programs, "kubelet"), kubelet, async () => {
      await runTool(join(programs, "kubectl"), ["--kubeconfig", kubeconfig, "get", "node", nodeName]);
      return true;
    });
    const proxy = [...names, "--proxy-mode", "nftables", "--cluster-cidr", podNetwork.range];
    const addresses = [
      "--healthz-bind-address",
      `127.0.0.1:${health}`,
      "--metrics-bind-address",
      `127.0.0.1:${metrics}`,
    ];
    await begin(
      join(programs, "kube-proxy"),
      [...proxy, ...addresses],
      async () => (await fetch(`http://127.0.0.1:${health}/livez`)).ok,
    );
    return { importImage, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function writeSettings(
  { directory, profiles }: NodeOptions,
  socket: string,
): Promise<{ containerd: string; kubelet: string }> {
  const write = async (path: string, text: string) => {
    await mkdir(join(directory, path, ".."), { recursive: true });
    await writeFile(join(directory, path), text);
    return join(directory, path);
  };
  await write("network/pods.conflist", JSON.stringify(networkPlugins));
  for (const [name, text] of Object.entries(profiles)) await write(`kubelet/seccomp/${name}`, text);
  return {
    containerd: await write("containerd.toml", containerdSettings(directory, socket)),
    kubelet: await write("kubelet.json", JSON.stringify(await kubeletSettings(socket))),
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

async function kubeletSettings(socket: string): Promise<object> {
  const least = "1%";
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    port: await getPort({ host: "127.0.0.1" }),
    healthzPort: 0,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: "cgroupfs",
    // Machines of both kinds run this, and those with swap too.
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    enforceNodeAllocatable: [],
    evictionHard: { "memory.available": least, "nodefs.available": least, "imagefs.available": least },
    imageGCHighThresholdPercent: 100,
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

/** Ends what runs in pods, which outlives kubelet and containerd, and unmounts its files. */
async function removePods(directory: string): Promise<void> {
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
  await removeControlGroups();
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

/** Those of the pods; an empty one can be removed. */
async function removeControlGroups(): Promise<void> {
  const roots = await readdir("/sys/fs/cgroup").catch(() => []);
  for (const root of ["", ...roots]) await removeGroup(join("/sys/fs/cgroup", root, "kubepods"));
}

async function removeGroup(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeGroup(join(path, entry.name));
  await runTool("rmdir", [path]).catch(() => {});
}
