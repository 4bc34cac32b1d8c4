import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority } from "@tessera/testkit/certificates";
import { podNetwork } from "./node-network.ts";

const name = "metrics";
const namespace = "kube-system";
const group = "metrics.k8s.io";
const version = "v1beta1";
const root = `/apis/${group}/${version}`;

/** The API by which autoscalers learn how much of a processor pods use. Tests say how much. */
export interface MetricsApi {
  /** Each pod of this component uses so many thousandths of a processor; until this is said, it has no figure. */
  set(component: string, thousandths: number): void;
  close(): Promise<void>;
}

interface MetricsApiOptions {
  get<T>(...args: readonly string[]): Promise<T>;
  apply(...objects: readonly object[]): Promise<void>;
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
    readonly spec: { readonly containers: readonly { readonly name: string }[] };
  }[];
}

/** Starts it at the address of this machine, and makes it a part of the API server, which examines callers before they get here. */
export async function startMetricsApi({ get, apply }: MetricsApiOptions): Promise<MetricsApi> {
  const used = new Map<string, number>();
  const authority = await createAuthority("metrics");
  const { certificate, key } = await authority.issue({ names: [`${name}.${namespace}.svc`] });

  async function answer(url: URL): Promise<object | undefined> {
    if (url.pathname === root) return discovery;
    const [, of] = new RegExp(`^${root}/namespaces/([^/]+)/pods$`).exec(url.pathname) ?? [];
    if (of === undefined) return undefined;
    const selector = url.searchParams.get("labelSelector") ?? "";
    const { items } = await get<Pods>("pods", "--namespace", of, "--selector", selector);
    const timestamp = new Date().toISOString();
    return {
      ...{ kind: "PodMetricsList", apiVersion: `${group}/${version}`, metadata: {} },
      items: items.flatMap(({ metadata, spec }) => {
        const cpu = used.get(metadata.labels["app.kubernetes.io/component"] ?? "");
        if (cpu === undefined) return [];
        const [container] = spec.containers;
        const containers = [{ name: container?.name, usage: { cpu: `${cpu}m`, memory: "128Mi" } }];
        return { metadata: { name: metadata.name, namespace: of }, timestamp, window: "1s", containers };
      }),
    };
  }

  const server = createServer({ cert: certificate, key }, (request, response) => {
    answer(new URL(request.url ?? "/", "https://metrics"))
      .then((found) => {
        response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
        response.end(JSON.stringify(found ?? {}));
      })
      // The API server asks again.
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, podNetwork.address, resolve));
  const { port } = server.address() as AddressInfo;
  const slice = { name, namespace, labels: { "kubernetes.io/service-name": name } };
  await apply(
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace },
      spec: { ports: [{ port: 443, targetPort: port }] },
    },
    {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: slice, addressType: "IPv4" },
      ports: [{ name: "", port, protocol: "TCP" }],
      endpoints: [{ addresses: [podNetwork.address], conditions: { ready: true } }],
    },
    {
      ...{ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: `${version}.${group}` } },
      spec: {
        ...{ group, version, groupPriorityMinimum: 100, versionPriority: 100 },
        service: { name, namespace },
        caBundle: Buffer.from(authority.certificate).toString("base64"),
      },
    },
  );
  return {
    set: (component, thousandths) => void used.set(component, thousandths),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const discovery = {
  ...{ kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/${version}` },
  resources: [{ name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] }],
};
