import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EngineProcess, startProcess, takesConnections } from "@tessera/testkit/engines/engine-process";
import getPort from "get-port";
import { serviceRange } from "./node-network.ts";
import { runTool } from "./run-tool.ts";

/** The API of a cluster, its controllers and its scheduler. */
export interface ControlPlane {
  /** Of its administrator. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts etcd, the API server, the controllers and the scheduler on this machine alone. */
export async function startControlPlane(programs: string, directory: string): Promise<ControlPlane> {
  const host = "127.0.0.1";
  const [client, peer, secure] = [await getPort({ host }), await getPort({ host }), await getPort({ host })];
  const certificates = join(directory, "certificates");
  await mkdir(certificates, { recursive: true });
  const token = randomBytes(24).toString("hex");
  const url = `https://${host}:${secure}`;
  const kubeconfig = join(directory, "kubeconfig");
  const accounts = await writeAccountKeys(directory);
  await writeFile(join(directory, "tokens.csv"), `${token},administrator,administrator,system:masters\n`, {
    mode: 0o600,
  });
  await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(url, token)), { mode: 0o600 });
  const started: EngineProcess[] = [];
  const start = async (name: string, flags: Readonly<Record<string, string>>, isReady: () => Promise<boolean>) => {
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    started.push(
      await startProcess({ program: join(programs, name), args, cwd: directory, isReady, longestStartMs: 180_000 }),
    );
  };
  const stop = async () => {
    for (const engine of started.splice(0).reverse()) await engine.end("SIGTERM");
  };
  try {
    const [clientUrl, peerUrl] = [`http://${host}:${client}`, `http://${host}:${peer}`];
    await start(
      "etcd",
      {
        "data-dir": join(directory, "etcd"),
        // The cluster is thrown away.
        "unsafe-no-fsync": "true",
        "listen-client-urls": clientUrl,
        "advertise-client-urls": clientUrl,
        "listen-peer-urls": peerUrl,
        "initial-advertise-peer-urls": peerUrl,
        "initial-cluster": `default=${peerUrl}`,
        "log-level": "error",
      },
      () => takesConnections(client),
    );
    await start(
      "kube-apiserver",
      {
        "etcd-servers": clientUrl,
        "secure-port": String(secure),
        "bind-address": host,
        // Pods do not call it, and an endpoint cannot be this address.
        "endpoint-reconciler-type": "none",
        "cert-dir": certificates,
        "token-auth-file": join(directory, "tokens.csv"),
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-signing-key-file": accounts.privateKey,
        "service-account-key-file": accounts.publicKey,
        "service-cluster-ip-range": serviceRange,
      },
      async () => {
        await runTool(join(programs, "kubectl"), ["--kubeconfig", kubeconfig, "get", "--raw", "/readyz"]);
        return true;
      },
    );
    const both = {
      kubeconfig,
      "authentication-kubeconfig": kubeconfig,
      "authorization-kubeconfig": kubeconfig,
      "leader-elect": "false",
      "bind-address": host,
      "cert-dir": certificates,
    };
    const [controllers, scheduler] = [await getPort({ host }), await getPort({ host })];
    await start(
      "kube-controller-manager",
      {
        ...both,
        "secure-port": String(controllers),
        "service-account-private-key-file": accounts.privateKey,
        "root-ca-file": join(certificates, "apiserver.crt"),
        "use-service-account-credentials": "true",
        // By default an autoscaler waits for minutes before it believes the figures of a new pod.
        "horizontal-pod-autoscaler-sync-period": "5s",
        "horizontal-pod-autoscaler-initial-readiness-delay": "5s",
        "horizontal-pod-autoscaler-cpu-initialization-period": "20s",
      },
      () => takesConnections(controllers),
    );
    await start("kube-scheduler", { ...both, "secure-port": String(scheduler) }, () => takesConnections(scheduler));
    return { kubeconfig, url, token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The certificate of the server is its own work, and it listens on this machine alone. */
function kubeconfigOf(server: string, token: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "administrator", user: { token } }],
    contexts: [{ name: "here", context: { cluster: "here", user: "administrator" } }],
    "current-context": "here",
  };
}

async function writeAccountKeys(directory: string): Promise<{ privateKey: string; publicKey: string }> {
  const pair = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const paths = { privateKey: join(directory, "accounts.key"), publicKey: join(directory, "accounts.pub") };
  await writeFile(paths.privateKey, pair.privateKey, { mode: 0o600 });
  await writeFile(paths.publicKey, pair.publicKey);
  return paths;
}
