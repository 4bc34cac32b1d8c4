import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chart, runHelm } from "../chart/render-chart.ts";
import { operatorKey } from "../e2e/sample-records.ts";
import { targets } from "./build-images.ts";
import type { OutsideEngines } from "./outside-engines.ts";
import type { Kubernetes } from "./start-kubernetes.ts";

export const namespace = "tickets";
const releaseName = "tessera";
const services = [
  "boxoffice",
  "checkin",
  "gateway",
  "layout-and-render",
  "offline-sales",
  "shredder",
  "voucher",
] as const;
type Service = (typeof services)[number];

/** Makes the namespace, which refuses every pod that is not restricted, and the Secrets that the chart asks for. */
export async function prepareNamespace(kubernetes: Kubernetes, engines: OutsideEngines): Promise<void> {
  const labels = Object.fromEntries(
    ["enforce", "warn", "audit"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]),
  );
  const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    stringData,
  });
  const { authority, s3 } = engines;
  const certificates = await Promise.all(
    services.map(async (name) => {
      const { certificate, key } = await authority.issue({ names: [name] });
      const data = { "tls.crt": certificate, "tls.key": key, "ca.crt": authority.certificate };
      return secret(`grpc-${name}`, data);
    }),
  );
  await kubernetes.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
  const urls = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, engines.databaseUrl(name)]));
  await kubernetes.apply(
    secret("operator", { operatorKey }),
    secret("postgres", urls(services)),
    secret("postgres-administrator", urls(["migrate"])),
    secret("authority", { "ca.crt": authority.certificate }),
    ...[...services, "topics"].map((name) => secret(`kafka-${name}`, { ...engines.kafkaAccount(name) })),
    secret("redis", { url: engines.redisUrl }),
    secret("objects", { accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey }),
    ...certificates,
  );
}

/** What is installed: the images by their tag, and what differs from one pod for each service. */
export interface Wanted {
  readonly tag: string;
  readonly replicas?: Partial<Readonly<Record<Service, number>>>;
  /** Services whose number of pods follows their use of processors. */
  readonly scaled?: Partial<Readonly<Record<Service, Scaled>>>;
}

interface Scaled {
  readonly from: number;
  readonly to: number;
  /** What a pod requests, in thousandths of a processor. */
  readonly requested: number;
}

export const publicUrl = "http://tickets.example.org";

function valuesFor(engines: OutsideEngines, wanted: Wanted): object {
  const authority = { caExistingSecret: "authority" };
  return {
    baseUrl: publicUrl,
    image: { repository: targets.tessera, chromiumRepository: targets.chromium, tag: wanted.tag, pullPolicy: "Never" },
    operatorKey: { existingSecret: "operator" },
    postgres: { existingSecret: "postgres", migrationExistingSecret: "postgres-administrator", ...authority },
    kafka: {
      brokers: engines.brokers,
      tls: { existingSecret: "authority" },
      sasl: { mechanism: "scram-sha-512", existingSecret: "kafka-topics" },
    },
    redis: { existingSecret: "redis", ...authority },
    objectStore: {
      bucket: engines.s3.bucket,
      endpoint: engines.s3.endpoint,
      pathStyle: true,
      existingSecret: "objects",
      ...authority,
    },
    grpc: { certificateSecretPrefix: "grpc-" },
    defaults: {
      // A pod that starts beside a load takes its time.
      probes: {
        startup: { failureThreshold: 150 },
        liveness: { timeoutSeconds: 10 },
        readiness: { timeoutSeconds: 10 },
      },
      resources: { requests: { cpu: "10m", memory: "64Mi" } },
    },
    services: Object.fromEntries(services.map((name) => [name, valuesOf(name, wanted)])),
  };
}

function valuesOf(name: Service, { replicas = {}, scaled = {} }: Wanted): object {
  const scaling = scaled[name];
  return {
    kafkaSaslExistingSecret: `kafka-${name}`,
    ...(scaling === undefined
      ? {
          replicas: replicas[name] ?? 1,
          autoscaling: { kind: "none" },
          resources: { requests: { cpu: "10m", memory: "64Mi" } },
        }
      : {
          autoscaling: {
            ...{ kind: "hpa", minReplicas: scaling.from, maxReplicas: scaling.to },
            behavior: {
              scaleUp: { stabilizationWindowSeconds: 0 },
              scaleDown: { stabilizationWindowSeconds: 15, policies: [{ type: "Pods", value: 2, periodSeconds: 15 }] },
            },
          },
          resources: { requests: { cpu: `${scaling.requested}m`, memory: "64Mi" } },
        }),
    ...(name === "layout-and-render"
      ? {
          podSecurityContext: { seccompProfile: { type: "Localhost", localhostProfile: "profiles/chromium.json" } },
        }
      : {}),
  };
}

/** Runs Helm on the release. */
export function helmOf({ kubeconfig }: Kubernetes) {
  const run = (...args: readonly string[]) => runHelm(...args, "--kubeconfig", kubeconfig, "--namespace", namespace);
  return {
    /** Installs the chart, or changes the release, and waits until every pod is ready. */
    async install(engines: OutsideEngines, wanted: Wanted, ...flags: readonly string[]): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), "tessera-release-"));
      try {
        const file = join(folder, "values.json");
        await writeFile(file, JSON.stringify(valuesFor(engines, wanted)));
        const how = ["--install", "--values", file, "--wait", "--timeout", "15m", ...flags];
        return await run("upgrade", releaseName, chart, ...how);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    test: () => run("test", releaseName, "--logs", "--timeout", "10m"),
    rollback: (revision: number) => run("rollback", releaseName, String(revision), "--wait", "--timeout", "15m"),
    uninstall: () => run("uninstall", releaseName, "--wait", "--timeout", "15m"),
  };
}
