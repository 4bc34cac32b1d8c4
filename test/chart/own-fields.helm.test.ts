import { expect, it } from "vitest";
import { ofKind, renderChart, renderText } from "./render-chart.ts";
import { validatorFor } from "./validate-manifest.ts";

const sidecar = { name: "proxy", image: "proxy:1" };
const waiting = { name: "wait", image: "busybox:1" };

it("[Y4.6] fields of pods, Deployments, Services, autoscalers and routes that the chart has no opinion about are passed on", async () => {
  const hostAliases = [{ ip: "10.0.0.9", hostnames: ["kafka"] }];
  const dnsConfig = { options: [{ name: "ndots", value: "2" }] };
  const cron = { type: "cron", metadata: { timezone: "Europe/Berlin", start: "0 17 * * *", end: "0 23 * * *" } };
  const shop = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "shop" } } };
  const values = {
    defaults: {
      ...{ initContainers: [waiting], extraContainers: [sidecar], hostAliases, dnsConfig, dnsPolicy: "ClusterFirst" },
      deploymentAnnotations: { "reloader.stakater.com/auto": "true" },
      lifecycle: { postStart: { exec: { command: ["true"] } } },
    },
    services: {
      gateway: {
        service: {
          ...{ type: "LoadBalancer", nodePort: 30_080, loadBalancerClass: "metallb", externalTrafficPolicy: "Local" },
          loadBalancerSourceRanges: ["192.0.2.0/24"],
        },
      },
      checkin: {
        autoscaling: { kind: "keda", triggers: [cron] },
        lifecycle: { preStop: { exec: { command: ["sleep", "9"] } } },
      },
      voucher: { outsideService: { enabled: true, nodePort: 30_051, annotations: { "example.org/pool": "shops" } } },
    },
    httpRoute: { enabled: true, parentRefs: [{ name: "public" }], matches: [{ path: { value: "/api" } }] },
    networkPolicy: { outsideCallersFrom: { shop: [shop] } },
    metrics: { prometheusAddress: "http://prometheus" },
  };
  const manifests = await renderChart("minimal", { values });
  expect(manifests.flatMap(validatorFor("1.36"))).toEqual([]);
  const deployments = ofKind("Deployment", manifests);
  const gateway = deployments.get("gateway");
  expect(gateway?.metadata.annotations).toEqual({ "reloader.stakater.com/auto": "true" });
  const { spec } = gateway?.spec.template ?? {};
  expect(spec).toMatchObject({ initContainers: [waiting], hostAliases, dnsConfig, dnsPolicy: "ClusterFirst" });
  expect(spec.containers.map(({ name }: { name: string }) => name)).toEqual(["gateway", "proxy"]);
  // A hook of one's own does not take the pause away, unless it replaces it.
  expect(spec.containers[0].lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } }, ...values.defaults.lifecycle });
  expect(deployments.get("checkin")?.spec.template.spec.containers[0].lifecycle).toEqual({
    ...values.services.checkin.lifecycle,
    ...values.defaults.lifecycle,
  });
  // A sidecar would keep a Job from its end.
  const migrate = ofKind("Job", manifests).get("migrate")?.spec.template.spec;
  expect(migrate).toMatchObject({ initContainers: [waiting], hostAliases, dnsConfig });
  expect(migrate.containers).toHaveLength(1);

  const named = (name: string) => manifests.find(({ kind, metadata }) => kind === "Service" && metadata.name === name);
  const { nodePort, ...balanced } = values.services.gateway.service;
  const port = { name: "http", port: 80, targetPort: "http", appProtocol: "http", nodePort };
  expect(named("tessera-gateway-http")?.spec).toMatchObject({ ...balanced, ports: [port] });
  const outside = named("tessera-voucher-outside");
  expect(outside?.metadata.annotations).toEqual({ "example.org/pool": "shops" });
  expect(outside?.spec).toMatchObject({
    type: "LoadBalancer",
    selector: { "app.kubernetes.io/component": "voucher" },
    ports: [{ name: "grpc", port: 50_051, targetPort: "grpc", nodePort: 30_051 }],
  });
  const triggers = ofKind("ScaledObject", manifests).get("checkin")?.spec.triggers;
  expect(triggers.map(({ type }: { type: string }) => type)).toEqual(["prometheus", "cpu", "cron"]);
  expect(triggers[2]).toEqual(cron);
  expect(ofKind("HTTPRoute", manifests).get("gateway")?.spec.rules[0].matches).toEqual(values.httpRoute.matches);
});

it("[Y4.7] Secrets of operators are used as they are: one string or one Secret for each service, and accounts that are no secret", async () => {
  const values = {
    postgres: { existingSecret: "app", migrationExistingSecret: "superuser", migrationSecretKey: "uri" },
    kafka: {
      sasl: { mechanism: "scram-sha-512", existingSecret: "tessera", username: "tessera", passwordKey: "pass" },
    },
    defaults: { postgresSecretKey: "uri" },
    services: {
      checkin: {
        postgresExistingSecret: "checkin-app",
        postgresSecretKey: "url",
        kafkaSaslUsername: "tessera-checkin",
      },
    },
    topics: { kafkaSaslUsername: "tessera-topics" },
  };
  const manifests = await renderChart("minimal", { values });
  const variable = (kind: "Deployment" | "Job", of: string, name: string) =>
    ofKind(kind, manifests)
      .get(of)
      ?.spec.template.spec.containers[0].env.find((each: { name: string }) => each.name === name);
  const secret = (kind: "Deployment" | "Job", of: string) => variable(kind, of, "DATABASE_URL").valueFrom.secretKeyRef;
  expect(secret("Deployment", "voucher")).toEqual({ name: "app", key: "uri" });
  expect(secret("Deployment", "checkin")).toEqual({ name: "checkin-app", key: "url" });
  expect(secret("Job", "migrate")).toEqual({ name: "superuser", key: "uri" });
  expect(variable("Deployment", "voucher", "KAFKA_SASL_USERNAME")).toMatchObject({ value: "tessera" });
  expect(variable("Deployment", "checkin", "KAFKA_SASL_USERNAME")).toMatchObject({ value: "tessera-checkin" });
  expect(variable("Job", "topics", "KAFKA_SASL_USERNAME")).toMatchObject({ value: "tessera-topics" });
  expect(variable("Job", "topics", "KAFKA_SASL_PASSWORD").valueFrom.secretKeyRef).toEqual({
    name: "tessera",
    key: "pass",
  });
});

it("[Y4.8] each alert can be switched off, and has the threshold, the time and the severity that are set", async () => {
  const alerts = {
    TesseraWorkWaits: { threshold: 900, for: "15m", severity: "ticket" },
    TesseraRequestsFail: { threshold: 0.05 },
    TesseraCacheUnused: { enabled: false },
    TesseraServiceSilent: { severity: "page" },
  };
  const values = { metrics: { prometheusRule: { alerts } } };
  const rules = ofKind("PrometheusRule", await renderChart("full", { values })).get("alerts")?.spec.groups[0].rules as {
    readonly alert: string;
    readonly expr: string;
    readonly for: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
  const found = (name: string) => rules.filter(({ alert }) => alert === name);
  expect(found("TesseraWorkWaits")).toMatchObject([
    { expr: expect.stringMatching(/ > 900$/), for: "15m", labels: { severity: "ticket" } },
  ]);
  expect(found("TesseraRequestsFail")).toMatchObject([
    { expr: expect.stringMatching(/ > 0\.05$/), for: "5m", labels: { severity: "critical" } },
  ]);
  expect(found("TesseraCacheUnused")).toEqual([]);
  expect(new Set(found("TesseraServiceSilent").map(({ labels }) => labels["severity"]))).toEqual(new Set(["page"]));
  expect(rules.filter(({ expr }) => expr.includes("THRESHOLD") || expr.includes("nil"))).toEqual([]);
  const misspelt = renderText("full", { values: { metrics: { prometheusRule: { alerts: { TesseraWorkWait: {} } } } } });
  await expect(misspelt).rejects.toThrow("TesseraWorkWait");
});
