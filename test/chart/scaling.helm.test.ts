import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ofKind, renderChart, renderText } from "./render-chart.ts";

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const operations = read("operations.md");
const runbooks = read("runbooks.md");

it("where something scales a Deployment, it has no number of replicas", async () => {
  const manifests = await renderChart("full");
  const scaled = [...manifests.filter(({ kind }) => kind === "HorizontalPodAutoscaler" || kind === "ScaledObject")];
  expect(scaled.map(({ kind, spec }) => `${kind} ${spec.scaleTargetRef.name}`).sort()).toEqual([
    "HorizontalPodAutoscaler tessera-checkin",
    "HorizontalPodAutoscaler tessera-gateway",
    "ScaledObject tessera-layout-and-render",
  ]);
  const targets = scaled.map(({ spec }) => spec.scaleTargetRef.name);
  const deployments = manifests.filter(({ kind }) => kind === "Deployment");
  const fixed = deployments.filter(({ spec }) => "replicas" in spec).map(({ metadata }) => metadata.name);
  expect(fixed.toSorted()).toEqual(
    deployments
      .map(({ metadata }) => metadata.name)
      .filter((name) => !targets.includes(name))
      .sort(),
  );
});

it("KEDA asks for work that waits, by a metric that operators are told about", async () => {
  const scaled = ofKind("ScaledObject", await renderChart("full")).get("layout-and-render");
  const [trigger] = scaled?.spec.triggers ?? [];
  expect(trigger.metadata).toEqual({
    serverAddress: "http://prometheus.monitoring:9090",
    query: 'sum(max by (work) (tessera_work_waiting{namespace="tickets",service="layout-and-render"}))',
    threshold: "20",
  });
  expect(operations).toContain("| `tessera_work_waiting` | gauge | service, work |");
});

it("where more than one pod can run, a drain of nodes takes one at a time, and pods are spread", async () => {
  const manifests = await renderChart("minimal");
  const budgets = ofKind("PodDisruptionBudget", manifests);
  const deployments = ofKind("Deployment", manifests);
  expect([...deployments.keys()].filter((name) => !budgets.has(name))).toEqual(["shredder"]);
  expect(budgets.get("gateway")?.spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow" });
  const keys = deployments
    .get("gateway")
    ?.spec.template.spec.topologySpreadConstraints.map((each: { topologyKey: string }) => each.topologyKey);
  expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
});

it("[Y4.2] spread constraints for all services select the pods of each, and one with a selector is passed on as it is", async () => {
  const zone = { topologyKey: "topology.kubernetes.io/zone", maxSkew: 2, whenUnsatisfiable: "DoNotSchedule" };
  const own = { ...zone, labelSelector: { matchLabels: { tier: "gates" } } };
  const keyed = { ...zone, matchLabelKeys: ["controller-revision-hash"] };
  const values = { defaults: { topologySpreadConstraints: [zone, own, keyed] } };
  const deployments = ofKind("Deployment", await renderChart("minimal", { values }));
  expect(deployments.size).toBeGreaterThan(5);
  for (const [name, { spec }] of deployments) {
    const labelSelector = { matchLabels: spec.selector.matchLabels };
    expect(spec.template.spec.topologySpreadConstraints, name).toEqual([
      { ...zone, labelSelector, matchLabelKeys: ["pod-template-hash"] },
      own,
      { ...keyed, labelSelector },
    ]);
  }
});

it("[Y4.3] the chart can be a dependency with a condition, which reads `enabled` among its values", async () => {
  const values = { enabled: true, global: { any: "thing" } };
  expect(await renderText("minimal", { values })).toBe(await renderText("minimal"));
});

it("another number of pods replaces none that runs", async () => {
  const [one, three] = await Promise.all(
    [1, 3].map(async (replicas) => {
      const services = { checkin: { replicas, autoscaling: { kind: "none" } } };
      return ofKind("Deployment", await renderChart("minimal", { values: { services } })).get("checkin")?.spec;
    }),
  );
  expect([one.replicas, three.replicas]).toEqual([1, 3]);
  expect(one.template).toEqual(three.template);
});

it("every alert is about metrics that operators are told about, and has a section in the runbooks, with nothing left over", async () => {
  const rules = ofKind("PrometheusRule", await renderChart("full")).get("alerts")?.spec.groups[0].rules as {
    readonly alert: string;
    readonly expr: string;
    readonly annotations: { readonly runbook: string; readonly runbook_url?: string };
  }[];
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, annotations } of rules) {
    const metrics = (expr.match(/tessera_\w+/g) ?? []).map((name) => name.replace(/_seconds_count$/, "_seconds"));
    expect(metrics, alert).not.toEqual([]);
    for (const metric of metrics) expect(operations, alert).toContain(`| \`${metric}\` |`);
    expect(expr, alert).toContain('namespace="tickets"');
    expect(annotations.runbook, alert).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    expect(annotations.runbook_url, alert).toBe(`https://docs.example.org/tessera/runbooks.md#${alert.toLowerCase()}`);
  }
  const sections = runbooks.split(/^## /m).slice(1);
  const described = sections.map((section) => section.split("\n")[0]);
  expect(described.sort()).toEqual([...new Set(rules.map(({ alert }) => alert))].sort());
  for (const section of sections)
    for (const part of ["**Means.**", "**Look.**", "**Do.**"]) expect(section, section.split("\n")[0]).toContain(part);
});

it("the dashboard comes as a ConfigMap that Grafana's sidecar picks up, where that is wished", async () => {
  const dashboards = (await renderChart("full")).find(({ metadata }) => metadata.name === "tessera-dashboards");
  expect(dashboards?.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
  const { data } = dashboards as unknown as { data: Readonly<Record<string, string>> };
  expect(Object.keys(data)).toEqual(["tessera.json"]);
  const chart = new URL("../../charts/tessera/dashboards/tessera.json", import.meta.url);
  expect(JSON.parse(data["tessera.json"] ?? "")).toEqual(JSON.parse(readFileSync(chart, "utf8")));
  expect(JSON.stringify(await renderChart("minimal"))).not.toContain("grafana");
});

it("[Y4.1] every panel of the dashboard shows chosen releases alone, and of them the processes of Tessera", () => {
  interface Variable {
    readonly name: string;
    readonly query: string | { readonly query: string };
    readonly allValue?: string;
  }
  const dashboard = JSON.parse(
    readFileSync(new URL("../../charts/tessera/dashboards/tessera.json", import.meta.url), "utf8"),
  ) as {
    readonly templating: { readonly list: readonly Variable[] };
    readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  };
  const { list } = dashboard.templating;
  expect(list.map(({ name }) => name)).toEqual(["datasource", "namespace", "release"]);
  // Where nothing sets these labels, as on one server, all is shown.
  expect(list.slice(1).map(({ allValue }) => allValue)).toEqual([".*", ".*"]);
  const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  expect(queries.length).toBeGreaterThan(15);
  for (const { title, expr } of queries) {
    const metrics = [...expr.matchAll(/\b(?:tessera|process|nodejs)_\w+/g)];
    const chosen = expr.split('{namespace=~"$namespace",release=~"$release"').length - 1;
    expect(chosen, `${title}: ${expr}`).toBe(metrics.length);
    // Every program of a cluster has these.
    if (/\b(?:process|nodejs)_/.test(expr))
      expect(expr, title).toContain(" and on (job, instance) tessera_build_info{");
  }
});

it("metrics keep the service that they are about, and tell their release", async () => {
  const monitor = ofKind("ServiceMonitor", await renderChart("full")).get("services");
  expect(monitor?.metadata.labels).toMatchObject({ release: "prometheus" });
  expect(monitor?.spec.endpoints).toEqual([
    {
      ...{ port: "operations", path: "/metrics", interval: "30s", scrapeTimeout: "10s", honorLabels: true },
      relabelings: [
        { sourceLabels: ["__meta_kubernetes_service_label_app_kubernetes_io_instance"], targetLabel: "release" },
      ],
    },
  ]);
});
