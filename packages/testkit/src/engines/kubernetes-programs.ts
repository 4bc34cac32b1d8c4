import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Availability, findProgram, installOnce, isExecutable, runInstaller } from "./engine-process.ts";

/** Its schemas are among those that the chart is checked against. */
const kubernetesVersion = "v1.36.3";

/** Valid from `src` and from `dist`. */
const sources = join(import.meta.dirname, "../../src/engines/kubernetes");

/** What a node and the tests on it need from the system, by the Debian package that has it. */
const ofSystem: readonly (readonly [program: string, debian: string])[] = [
  ["containerd", "containerd"],
  ["ctr", "containerd"],
  ["runc", "runc"],
  ["buildah", "buildah"],
  ["mmdebstrap", "mmdebstrap"],
  ["nft", "nftables"],
  ["ip", "iproute2"],
  ["conntrack", "conntrack"],
  // Valkey's package for Python speaks no TLS.
  ["redis-server", "redis-server"],
  ["/usr/lib/cni/bridge", "containernetworking-plugins"],
];

const built = ["kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet"];

/** Whether this machine can be a node of Kubernetes. */
export function findKubernetes(): Availability {
  if (process.platform !== "linux") {
    return { available: false, reason: "a node needs Linux", remedy: "Run it on a machine with Linux." };
  }
  if (process.getuid?.() !== 0) {
    return { available: false, reason: "a node makes networks and mounts", remedy: "Run it as root." };
  }
  if (findProgram("go") === undefined) {
    return { available: false, reason: "there is no Go to build Kubernetes", remedy: "Install Go 1.26 or later." };
  }
  const missing = missingPackages();
  if (missing.length > 0 && findProgram("apt-get") === undefined) {
    return {
      available: false,
      reason: `the programs of ${missing.join(", ")} are missing`,
      remedy: "Install them; where there is apt-get, this installs them itself.",
    };
  }
  return { available: true };
}

function missingPackages(): string[] {
  const isThere = (program: string) =>
    program.startsWith("/") ? isExecutable(program) : findProgram(program) !== undefined;
  return [...new Set(ofSystem.filter(([program]) => !isThere(program)).map(([, debian]) => debian))];
}

/** Builds the programs of Kubernetes once per machine, in about eight minutes of a processor, and returns their folder. */
export async function installKubernetes(): Promise<string> {
  const found = findKubernetes();
  if (!found.available) throw new Error(`${found.reason}. ${found.remedy}`);
  const missing = missingPackages();
  if (missing.length > 0) {
    await runInstaller("apt-get", ["install", "--yes", "--no-install-recommends", ...missing], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  const hash = createHash("sha256");
  for (const file of ["go.mod", "etcd/main.go", "pause/main.go"]) hash.update(await readFile(join(sources, file)));
  return installOnce(`kubernetes-${kubernetesVersion}-${hash.digest("hex").slice(0, 12)}`, async (draft) => {
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)\./.exec(kubernetesVersion) ?? [];
    const stamp = Object.entries({ gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor });
    const flags = ["-s", "-w", ...stamp.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)];
    const packages = ["./etcd", "./pause", ...built.map((name) => `k8s.io/kubernetes/cmd/${name}`)];
    const args = ["build", "-C", sources, "-trimpath", "-ldflags", flags.join(" "), "-o", `${draft}/`, ...packages];
    await runInstaller("go", args, { env: { CGO_ENABLED: "0" } });
  });
}
