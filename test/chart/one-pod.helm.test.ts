import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { chart, ofKind, renderChart, renderText, runHelm, valuesFile } from "./render-chart.ts";

it("[Y4.4] one pod runs all services with PostgreSQL alone, and keeps its files in a volume that outlives the release", async () => {
  const manifests = await renderChart("one-pod");
  const workloads = manifests.filter(({ kind }) => ["Deployment", "Job", "HorizontalPodAutoscaler"].includes(kind));
  expect(workloads.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["Deployment tessera-all"]);
  const { replicas, strategy, template } = workloads[0]?.spec ?? {};
  // Two of them would share the volume.
  expect([replicas, strategy]).toEqual([1, { type: "Recreate" }]);
  const [container] = template.spec.containers;
  expect(container.args).toEqual(["serve", "all", "--data", "/var/lib/tessera", "--log-file", "-"]);
  expect(container.image).toBe("tessera-chromium:0.1.0");
  const names = container.env.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => /KAFKA|BUS|S3|FILES|GRPC|REDIS|CACHE|_ADDRESS/.test(name))).toEqual([]);
  expect(container.env).toContainEqual({
    name: "DATABASE_URL",
    valueFrom: { secretKeyRef: { name: "tessera-postgres-app", key: "uri" } },
  });
  expect(container.volumeMounts).toContainEqual({ name: "data", mountPath: "/var/lib/tessera" });
  expect(template.spec.volumes).toContainEqual({
    name: "data",
    persistentVolumeClaim: { claimName: "tessera-all" },
  });
  expect(template.spec.securityContext).toMatchObject({ fsGroup: 10001, seccompProfile: { type: "Unconfined" } });
  const claim = ofKind("PersistentVolumeClaim", manifests).get("all");
  expect(claim?.metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
  expect(claim?.spec).toEqual({ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } });
});

it("one pod has the settings of every service, and what ranges over services knows it", async () => {
  const values = {
    services: { gateway: { settings: { RATE_LIMIT: 600 } }, checkin: { settings: { REDEEM_BATCHES: 4 } } },
    onePod: { persistence: { existingClaim: "files" } },
    ingress: { enabled: true },
    metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
  };
  const manifests = await renderChart("one-pod", { values });
  const { spec } = ofKind("Deployment", manifests).get("all")?.spec.template ?? {};
  expect(spec.containers[0].env).toEqual(
    expect.arrayContaining([
      { name: "RATE_LIMIT", value: "600" },
      { name: "REDEEM_BATCHES", value: "4" },
    ]),
  );
  expect(spec.volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "files" } });
  expect(ofKind("PersistentVolumeClaim", manifests).size).toBe(0);
  const rule = ofKind("Ingress", manifests).get("all")?.spec.rules[0];
  expect(rule.http.paths[0].backend.service.name).toBe("tessera-all-http");
  const policy = ofKind("NetworkPolicy", manifests).get("all");
  expect(policy?.spec.ingress.map(({ ports }: { ports: object[] }) => ports)).toEqual([
    [{ port: "http" }],
    [{ port: "operations" }],
  ]);
  // Metrics name the services of the one process.
  const rules = ofKind("PrometheusRule", manifests).get("alerts")?.spec.groups[0].rules as { labels: object }[];
  expect(rules.filter(({ labels }) => "service" in labels)).toHaveLength(7);
});

it("the doctor of one pod looks for a folder for files where its pod may write", async () => {
  const doctor = (await renderChart("one-pod")).find(({ kind }) => kind === "Pod")?.spec;
  const [container] = doctor.containers;
  expect(container.args).toEqual([
    "doctor",
    "all",
    "--health",
    "http://tessera-all:9090",
    "--data",
    "/var/lib/tessera",
  ]);
  expect(container.volumeMounts).toContainEqual({ name: "data", mountPath: "/var/lib/tessera" });
  expect(doctor.volumes).toContainEqual({ name: "data", emptyDir: {} });
});

it("one pod and brokers are refused", async () => {
  await expect(renderText("one-pod", { values: { kafka: { brokers: "kafka:9093" } } })).rejects.toThrow(
    "onePod.enabled runs all services in one process, which needs no Kafka",
  );
});

it("one pod takes no rights of a pod from a service, and serves no shop outside", async () => {
  const services = { voucher: { podSecurityContext: { runAsUser: 0 }, outsideService: { enabled: true } } };
  const refused = renderText("one-pod", { values: { services } });
  await expect(refused).rejects.toThrow("services.voucher.podSecurityContext would be that of all services");
  await expect(refused).rejects.toThrow("switch services.voucher.outsideService off");
});

it("one pod refuses what it would not take of single services, and Jobs that it does not have", async () => {
  const services = {
    checkin: { replicas: 3, autoscaling: { kind: "none" }, nodeSelector: { pool: "gates" } },
    gateway: { resources: { limits: { memory: "2Gi" } } },
    "layout-and-render": { extraEnv: [{ name: "TZ", value: "UTC" }], hostAliases: [] },
    "offline-sales": { enabled: false },
    shredder: { replicas: 1, settings: { GRPC_MAX_AGE: "5m" } },
  };
  const values = { services, migrations: { kind: "job" }, topics: { kind: "job" } };
  const message = await renderText("one-pod", { values }).catch((error: Error) => error.message);
  expect([...message.matchAll(/does not take services\.(\S+):/g)].map(([, path]) => path)).toEqual([
    ...["checkin.autoscaling", "checkin.nodeSelector", "checkin.replicas", "gateway.resources"],
    ...["layout-and-render.extraEnv", "layout-and-render.hostAliases", "offline-sales.enabled"],
  ]);
  expect(message).toContain("leave migrations.kind out");
  expect(message).toContain("leave topics.kind out");
});

it("one pod reads the key that is set for all services, unless the administrator has a Secret or key", async () => {
  const stringOf = async (postgres: object) => {
    const values = { postgres: { migrationSecretKey: "migrate", ...postgres }, defaults: { postgresSecretKey: "dsn" } };
    const pod = ofKind("Deployment", await renderChart("one-pod", { values })).get("all")?.spec.template.spec;
    const env: { name: string; valueFrom?: object }[] = pod.containers[0].env;
    return env.find(({ name }) => name === "DATABASE_URL")?.valueFrom;
  };
  const own = { secretKeyRef: { name: "tessera-postgres-app", key: "dsn" } };
  expect(await stringOf({})).toEqual(own);
  expect(await stringOf({ migrationSecretKey: "uri" })).toEqual({ secretKeyRef: { ...own.secretKeyRef, key: "uri" } });
  const ofAdministrator = { secretKeyRef: { name: "superuser", key: "migrate" } };
  expect(await stringOf({ migrationExistingSecret: "superuser" })).toEqual(ofAdministrator);
});

it("[Y4.5] the notes after an install have the commands that send the first records and make a key", async () => {
  const notesOf = async (set: "minimal" | "full" | "one-pod") => {
    const how = ["--namespace", "tickets", "--dry-run=client", "--values", valuesFile(set)];
    return (await runHelm("install", "tessera", chart, ...how)).split("\nNOTES:\n")[1] ?? "";
  };
  const many = await notesOf("full");
  expect(many).toContain(
    "kubectl exec --stdin --namespace tickets deploy/tessera-gateway -- node dist/main.js import -",
  );
  expect(many).toMatch(
    /deploy\/tessera-gateway -- node dist\/main\.js keys create [^\n]+ --url http:\/\/localhost:8000\n/,
  );
  const gateway = ofKind("Deployment", await renderChart("full")).get("gateway")?.spec.template.spec.containers[0];
  expect(gateway.env.map(({ name }: { name: string }) => name)).toContain("TESSERA_OPERATOR_KEY");
  const one = await notesOf("one-pod");
  expect(one).toContain("Name there what this release needs: PostgreSQL.");
  expect(one).toMatch(/deploy\/tessera-all -- node dist\/main\.js keys create [^\n]+ --data \/var\/lib\/tessera\n/);
  const least = await notesOf("minimal");
  expect(least).toContain("WARNING: without operatorKey.existingSecret");
  expect(least).toContain("Name there what this release needs: PostgreSQL, Kafka, S3.");
});

it("the chart has the icon of the pages", () => {
  const icon = /^icon: data:image\/svg\+xml;base64,(\S+)$/m.exec(readFileSync(`${chart}Chart.yaml`, "utf8"))?.[1];
  const page = readFileSync(new URL("../../packages/pages/src/ui/icon.svg", import.meta.url), "utf8");
  expect(Buffer.from(icon ?? "", "base64").toString()).toBe(page.trim());
});
