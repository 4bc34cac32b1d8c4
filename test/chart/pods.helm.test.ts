import { engineSettings, processSettings, topicSettings } from "@tessera/cli/configuration/engine-settings";
import { environmentOfPod } from "@tessera/cli/configuration/served-environment";
import { addressSetting, readAddresses } from "@tessera/cli/serve/grpc-addresses";
import { requireSecure } from "@tessera/cli/serve/secure-calls";
import { loadServices } from "@tessera/cli/services";
import { type Config, readConfig, type Setting, type Settings } from "@tessera/kit/config/config";
import { describe, expect, it } from "vitest";
import { type Manifest, ofKind, renderChart, valueSets } from "./render-chart.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly command: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: its shape is checked by the schema
  readonly [more: string]: any;
}

/** Everything that becomes a pod: Deployments, Jobs and the test. */
function podsOf(manifests: readonly Manifest[]) {
  return manifests.flatMap(({ kind, metadata, spec }) => {
    if (kind === "Pod") return [{ name: metadata.name, pod: spec }];
    return kind === "Deployment" || kind === "Job" ? [{ name: metadata.name, pod: spec.template.spec }] : [];
  });
}

/** A variable from a Secret gets a value that any setting takes. */
function environmentOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? "a-secret-of-at-least-24-characters"]));
}

function containerOf(deployment: Manifest | undefined): Container {
  const container = (deployment?.spec as { template: { spec: { containers: Container[] } } } | undefined)?.template.spec
    .containers[0];
  if (container === undefined) throw new Error("a service has no container");
  return container;
}

const definitions = await loadServices(["all"]);

describe.each(valueSets)("with %s values", (set) => {
  it("every service starts with what it gets", async () => {
    const deployments = ofKind("Deployment", await renderChart(set));
    const expected = definitions.filter(({ name }) => set !== "gitops" || name !== "offline-sales");
    expect([...deployments.keys()].sort()).toEqual(expected.map(({ name }) => name).sort());
    for (const { name, settings, needs, optional } of expected) {
      const container = containerOf(deployments.get(name));
      expect(container.args.slice(0, 2)).toEqual(["serve", name]);
      const environment = environmentOfPod(environmentOf(container));
      const config = readConfig({ ...processSettings, ...engineSettings }, environment);
      const own: Config<Settings> = readConfig(settings as Settings, environment);
      expect(config).toMatchObject({ bus: "kafka", files: "s3", metricsHost: "0.0.0.0", grpcHost: "0.0.0.0" });
      requireSecure(config, { names: [name], peers: needs, environment });
      readAddresses(needs, environment, optional);
      // Those of topics are for `tessera topics` and the doctor, which run in these pods.
      const tables = { ...processSettings, ...engineSettings, ...topicSettings, ...settings };
      const known = Object.values<Setting<unknown>>(tables).map((each) => each.name);
      const read = [
        ...known,
        ...needs.map(addressSetting),
        ...["DATABASE_URL", "METRICS_PORT", "OTEL_EXPORTER_OTLP_ENDPOINT", "TESSERA_OPERATOR_KEY"],
      ];
      expect(Object.keys(environmentOf(container)).filter((variable) => !read.includes(variable))).toEqual([]);
      const ports = Object.fromEntries(
        container["ports"].map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
      );
      expect(ports).toEqual({
        grpc: config.grpcPort,
        operations: Number(environment["METRICS_PORT"]),
        ...("port" in own ? { http: own["port"] } : {}),
      });
    }
  });

  it("an address leads to a Service with a port for gRPC, which leads to each pod", async () => {
    const manifests = await renderChart(set);
    const services = manifests.filter(({ kind }) => kind === "Service");
    const addresses = [...ofKind("Deployment", manifests).values()].flatMap(({ spec }) =>
      (spec.template.spec.containers[0] as Container).env.filter(({ name }) => name.endsWith("_ADDRESS")),
    );
    expect(addresses.length).toBeGreaterThan(10);
    for (const { name, value } of addresses) {
      const [host, port] = (value ?? "").split(":");
      const service = services.find(({ metadata }) => metadata.name === host);
      expect(service?.spec, name).toMatchObject({ clusterIP: "None" });
      expect(service?.spec.ports).toContainEqual({ name: "grpc", port: Number(port), targetPort: "grpc" });
      expect(addressSetting(service?.spec.selector["app.kubernetes.io/component"])).toBe(name);
    }
  });

  it("a selector finds the pods of its own service", async () => {
    const manifests = await renderChart(set);
    const labels = [...ofKind("Deployment", manifests).values()].map(({ spec }) => spec.template.metadata.labels);
    for (const { spec, metadata } of manifests.filter(({ kind }) => kind === "Service")) {
      const found = labels.filter((each) => Object.entries(spec.selector).every(([key, value]) => each[key] === value));
      expect(found.map((each) => each["app.kubernetes.io/component"])).toEqual([
        metadata.labels?.["app.kubernetes.io/component"],
      ]);
    }
  });

  it("each pod has what Pod Security calls restricted, and no token", async () => {
    const pods = podsOf(await renderChart(set));
    expect(pods.length).toBeGreaterThan(8);
    for (const { name, pod } of pods) {
      expect(pod, name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: expect.any(String) } },
      });
      expect(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC).toBeUndefined();
      const kinds = pod.volumes.flatMap((volume: object) => Object.keys(volume).filter((key) => key !== "name"));
      expect(new Set(["emptyDir", "secret", ...kinds])).toEqual(new Set(["emptyDir", "secret"]));
      for (const container of pod.containers as Container[]) {
        const { seccompProfile: _ofBrowser, ...rights } = container["securityContext"];
        expect(rights).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(container["volumeMounts"]).toContainEqual({ name: "tmp", mountPath: "/tmp" });
        expect(container["resources"]).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
        expect(container["resources"].limits).not.toHaveProperty("cpu");
        const mounted = container["volumeMounts"].map((mount: { name: string }) => mount.name);
        const volumes = pod.volumes.map((volume: { name: string }) => volume.name);
        expect(mounted.filter((mount: string) => !volumes.includes(mount))).toEqual([]);
      }
    }
  });

  it("no variable is set twice", async () => {
    for (const { name, pod } of podsOf(await renderChart(set))) {
      for (const { env } of pod.containers as Container[]) {
        const names = env.map((variable) => variable.name);
        expect(names, name).toEqual([...new Set(names)]);
      }
    }
  });
});

it("the browser alone may make user namespaces, for its sandbox; it prints without one where that is set, and not else", async () => {
  const profiles = async (services: object) =>
    podsOf(await renderChart("minimal", { values: { services } })).flatMap(({ pod }) =>
      (pod.containers as Container[]).map(({ name, securityContext }) => [
        name,
        securityContext.seccompProfile ?? pod.securityContext.seccompProfile,
      ]),
    );
  const found = await profiles({});
  for (const [name, profile] of found)
    expect(profile, name).toEqual({ type: name === "layout-and-render" ? "Unconfined" : "RuntimeDefault" });
  // In its own pod, and in that of the test, which prints a page, too.
  expect(found.filter(([name]) => name === "layout-and-render")).toHaveLength(2);
  const unboxed = {
    podSecurityContext: { seccompProfile: { type: "RuntimeDefault" } },
    settings: { BROWSER_SANDBOX: "off" },
  };
  for (const [name, profile] of await profiles({ "layout-and-render": unboxed }))
    expect(profile, name).toEqual({ type: "RuntimeDefault" });
});

it("a pod is asked at the operations port, and has time to drain", async () => {
  for (const [name, { spec }] of ofKind("Deployment", await renderChart("minimal"))) {
    const [container] = spec.template.spec.containers as Container[];
    const asked = (probe: string) => container?.[probe]?.httpGet;
    expect(asked("startupProbe"), name).toEqual({ path: "/startupz", port: "operations" });
    expect(asked("livenessProbe"), name).toEqual({ path: "/livez", port: "operations" });
    expect(asked("readinessProbe"), name).toEqual({ path: "/readyz", port: "operations" });
    expect(container?.["lifecycle"]).toEqual({ preStop: { sleep: { seconds: 5 } } });
    expect(container?.env).toContainEqual({ name: "SHUTDOWN_DELAY", value: "5s" });
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(60);
    expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  }
});

it("the renderer alone has the image with Chromium, and both may be named by digest", async () => {
  const images = (manifests: readonly Manifest[]) =>
    [...ofKind("Deployment", manifests)].map(([name, { spec }]) => [name, spec.template.spec.containers[0].image]);
  const plain = Object.fromEntries(images(await renderChart("minimal")));
  expect(plain["layout-and-render"]).toBe("tessera-chromium:0.1.0");
  expect(new Set(Object.values({ ...plain, "layout-and-render": plain["gateway"] }))).toEqual(
    new Set(["tessera:0.1.0"]),
  );
  const byDigest = Object.fromEntries(images(await renderChart("full")));
  expect(byDigest["gateway"]).toMatch(/^images\.example\.org\/tessera@sha256:0+1$/);
  expect(byDigest["layout-and-render"]).toMatch(/^images\.example\.org\/tessera-chromium@sha256:0+2$/);
});

it("a large setting has no exponent", async () => {
  const gateway = ofKind("Deployment", await renderChart("full")).get("gateway");
  expect(gateway?.spec.template.spec.containers[0].env).toContainEqual({ name: "UPLOAD_LIMIT", value: "20971520" });
});

it("a service's own values are laid over the defaults, and 0 and none count", async () => {
  const values = {
    defaults: { autoscaling: { kind: "hpa" }, podAnnotations: { one: "1" } },
    services: {
      voucher: { replicas: 0, autoscaling: { kind: "none" }, podAnnotations: { two: "2" } },
    },
  };
  const deployments = ofKind("Deployment", await renderChart("minimal", { values }));
  expect(deployments.get("voucher")?.spec.replicas).toBe(0);
  expect(deployments.get("voucher")?.spec.template.metadata.annotations).toEqual({ one: "1", two: "2" });
  expect(deployments.get("boxoffice")?.spec).not.toHaveProperty("replicas");
});

it("the test runs the doctor of each service with the settings of that service", async () => {
  const manifests = await renderChart("full");
  const doctor = manifests.find(({ kind }) => kind === "Pod");
  expect(doctor?.metadata.annotations?.["helm.sh/hook"]).toBe("test");
  const examined = doctor?.spec.containers as Container[];
  expect(examined.map(({ name }) => name)).toEqual([...ofKind("Deployment", manifests).keys()].sort());
  for (const { name, command, args, env, volumeMounts } of examined) {
    // One after the other.
    expect(command.slice(0, 2)).toEqual(["flock", "/tmp/turn"]);
    expect(volumeMounts).toContainEqual({ name: "tmp", mountPath: "/tmp" });
    expect(args).toEqual(["doctor", name, "--health", `http://tessera-${name}:9090`]);
    expect(env).toEqual(ofKind("Deployment", manifests).get(name)?.spec.template.spec.containers[0].env);
  }
});

it("scans come first on a busy node: gateway and checkin request at least twice as much of a processor as any other service", async () => {
  const requested = [...ofKind("Deployment", await renderChart("minimal"))].map(
    ([name, deployment]) => [name, containerOf(deployment)["resources"].requests.cpu] as const,
  );
  const ofGates = requested.filter(([name]) => ["gateway", "checkin"].includes(name));
  expect(ofGates.map(([, cpu]) => cpu)).toEqual(["500m", "500m"]);
  const ofOthers = requested
    .filter((each) => !ofGates.includes(each))
    .map(([, cpu]) => Number(/^(\d+)m$/.exec(cpu)?.[1]));
  expect(ofOthers).toHaveLength(5);
  expect(Math.max(...ofOthers)).toBeLessThanOrEqual(250);
});
