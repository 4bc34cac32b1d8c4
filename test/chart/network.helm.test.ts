import { expect, it } from "vitest";
import { readDeclaredServices } from "./declared-services.ts";
import { type Manifest, ofKind, renderChart } from "./render-chart.ts";

interface Peer {
  readonly podSelector?: {
    readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  };
}
interface Rule {
  readonly ports: readonly { readonly port: string | number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

/** The services in rules about the port of gRPC. */
function onGrpc(rules: readonly Rule[] | undefined, side: "from" | "to"): string[] {
  const peers = (rules ?? []).filter(({ ports }) => ports[0]?.port === "grpc").flatMap((rule) => rule[side] ?? []);
  return peers.flatMap(({ podSelector }) => podSelector?.matchExpressions?.[0]?.values ?? []).sort();
}

const callers = (service: string, calls: Readonly<Record<string, { readonly calls: readonly string[] }>>) =>
  Object.keys(calls).filter((name) => calls[name]?.calls.includes(service));

it("gRPC is open between services that call each other, in both directions, and to the doctor", async () => {
  const { services } = await readDeclaredServices();
  const policies = ofKind("NetworkPolicy", await renderChart("minimal"));
  for (const [name, { calls }] of Object.entries(services)) {
    const spec = policies.get(name)?.spec;
    expect(onGrpc(spec.egress, "to"), `${name} calls`).toEqual(calls);
    expect(onGrpc(spec.ingress, "from"), `${name} is called`).toEqual([...callers(name, services), "doctor"].sort());
  }
});

it("a service that is left out is neither opened nor called", async () => {
  const manifests = await renderChart("gitops");
  expect(manifests.filter(({ metadata }) => metadata.name.includes("offline-sales"))).toEqual([]);
  const policy = ofKind("NetworkPolicy", manifests).get("layout-and-render");
  expect(onGrpc(policy?.spec.ingress, "from")).toEqual(["doctor", "gateway", "shredder"]);
});

it("a shop outside reaches voucher alone, where it is named", async () => {
  const shop = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "shop" } } };
  const open = [...ofKind("NetworkPolicy", await renderChart("full"))].filter(([, { spec }]) =>
    JSON.stringify(spec.ingress ?? []).includes(JSON.stringify(shop)),
  );
  expect(open.map(([name]) => name)).toEqual(["voucher"]);
});

it("nothing but the gateway takes HTTP, and metrics are read by those who may", async () => {
  const policies = [...ofKind("NetworkPolicy", await renderChart("minimal"))];
  const withPort = (port: string) =>
    policies.filter(([, { spec }]) =>
      spec.ingress?.some((rule: Rule) => rule.ports.some((each) => each.port === port)),
    );
  expect(withPort("http").map(([name]) => name)).toEqual(["gateway"]);
  expect(withPort("operations")).toHaveLength(7);
});

it("what no policy opens is denied to every pod, and the metadata of clouds always is", async () => {
  const release = releasePolicy(await renderChart("minimal"));
  expect(release.spec.policyTypes).toEqual(["Ingress", "Egress"]);
  expect(release.spec).not.toHaveProperty("ingress");
  expect(release.spec.podSelector.matchLabels).toEqual({
    "app.kubernetes.io/name": "tessera",
    "app.kubernetes.io/instance": "tessera",
  });
  expect(JSON.stringify(release.spec.egress)).toContain(
    '"except":["100.100.100.200/32","168.63.129.16/32","169.254.0.0/16","192.0.0.192/32"]',
  );
  const named = releasePolicy(await renderChart("full"));
  expect(JSON.stringify(named.spec.egress)).not.toContain("0.0.0.0/0");
  expect(named.spec.egress).toHaveLength(2);
});

function releasePolicy(manifests: readonly Manifest[]): Manifest {
  const found = ofKind("NetworkPolicy", manifests).get("release");
  if (found === undefined) throw new Error("there is no policy of the release");
  return found;
}

it("an Ingress and a route lead to the Service for HTTP of the gateway", async () => {
  const manifests = await renderChart("full");
  const service = manifests.find(
    ({ kind, metadata }) => kind === "Service" && metadata.name === "tessera-gateway-http",
  );
  expect(service?.spec.ports).toEqual([{ name: "http", port: 80, targetPort: "http", appProtocol: "http" }]);
  const [rule] = ofKind("Ingress", manifests).get("gateway")?.spec.rules ?? [];
  expect(rule.http.paths[0].backend.service).toEqual({ name: "tessera-gateway-http", port: { name: "http" } });
  const route = ofKind("HTTPRoute", manifests).get("gateway");
  expect(route?.spec.rules[0].backendRefs).toEqual([{ name: "tessera-gateway-http", port: 80 }]);
});
