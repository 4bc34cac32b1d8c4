import { join } from "node:path";
import { type EngineProcess, startProcess } from "@tessera/testkit/engines/engine-process";
import { installMetricsServer } from "@tessera/testkit/engines/kubernetes-programs";
import getPort from "get-port";
import type { ControlPlane } from "./control-plane.ts";
import { podNetwork } from "./node-network.ts";

const name = "metrics-server";
const namespace = "kube-system";
const group = "metrics.k8s.io";

interface MetricsServerOptions {
  readonly directory: string;
  readonly api: ControlPlane;
  kubectl(...args: readonly string[]): Promise<string>;
  apply(...objects: readonly object[]): Promise<void>;
}

/**
 * Starts what tells autoscalers how much of a processor each pod uses, as kubelets have measured it. It is no pod: a Service
 * leads the API server to this machine.
 */
export async function startMetricsServer({
  directory,
  api,
  kubectl,
  apply,
}: MetricsServerOptions): Promise<EngineProcess> {
  const { address } = podNetwork;
  const port = await getPort({ host: address });
  const flags = {
    kubeconfig: api.kubeconfig,
    "authentication-kubeconfig": api.kubeconfig,
    "authorization-kubeconfig": api.kubeconfig,
    "bind-address": address,
    "secure-port": String(port),
    "cert-dir": join(directory, name),
    // The certificates of kubelets are their own work.
    "kubelet-insecure-tls": "true",
    "kubelet-preferred-address-types": "Hostname",
    "kubelet-use-node-status-port": "true",
    // The shortest that it takes; it waits for kubelets for less.
    "metric-resolution": "10s",
    "kubelet-request-timeout": "8s",
  };
  const ports = [{ name: "https", port: 443, protocol: "TCP", targetPort: port }];
  await apply(
    { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { ports } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, namespace, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ name: "https", port, protocol: "TCP" }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `v1beta1.${group}` },
      spec: {
        service: { name, namespace },
        ...{ group, version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
        insecureSkipTLSVerify: true,
      },
    },
  );
  return startProcess({
    program: await installMetricsServer(),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    cwd: directory,
    // It has measured every node, and the API server reaches it.
    isReady: async () => {
      const answer = await kubectl("get", "--raw", `/apis/${group}/v1beta1/nodes`);
      return (JSON.parse(answer) as { items: readonly unknown[] }).items.length > 0;
    },
    longestStartMs: 240_000,
  });
}
