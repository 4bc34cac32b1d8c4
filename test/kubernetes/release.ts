import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chart, runHelm } from "../chart/render-chart.ts";
import { targets } from "./build-images.ts";
import type { OutsideEngines } from "./outside-engines.ts";
import type { Kubernetes } from "./start-kubernetes.ts";

export const namespace = "tickets";
const releaseName = "tessera";
export const operatorKey = "operator-key-of-the-cluster-0123456789abcdef";

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
  await kubernetes.apply(
    secret("operator", { operatorKey }),
    secret("postgres", Object.fromEntries([...services, "migrate"].map((name) => [name, engines.databaseUrl]))),
    secret("postgres-ca", { "ca.crt": authority.certificate }),
    secret("redis", { url: engines.redisUrl }),
    secret("objects", { accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey }),
    ...certificates,
  );
}

/** What is installed: the images by their tag, and the number of pods of each service. */
export interface Wanted {
  readonly tag: string;
  readonly replicas?: Partial<Readonly<Record<Service, number>>>;
}

function valuesFor(engines: OutsideEngines, { tag, replicas = {} }: Wanted): object {
  const small = { requests: { cpu: "10m", memory: "64Mi" } };
  return {
    baseUrl: "http://tickets.example.org",
    image: { repository: targets.tessera, chromiumRepository: targets.chromium, tag, pullPolicy: "Never" },
    operatorKey: { existingSecret: "operator" },
    postgres: { existingSecret: "postgres", caExistingSecret: "postgres-ca" },
    kafka: { brokers: engines.brokers, tls: { enabled: false } },
    redis: { existingSecret: "redis" },
    objectStore: {
      bucket: engines.s3.bucket,
      endpoint: engines.s3.endpoint,
      pathStyle: true,
      existingSecret: "objects",
    },
    grpc: { certificateSecretPrefix: "grpc-" },
    defaults: { replicas: 1, resources: small, autoscaling: { kind: "none" } },
    services: Object.fromEntries(
      services.map((name) => [
        name,
        {
          replicas: replicas[name] ?? 1,
          autoscaling: { kind: "none" },
          resources: small,
          ...(name === "layout-and-render"
            ? {
                podSecurityContext: {
                  seccompProfile: { type: "Localhost", localhostProfile: "profiles/chromium.json" },
                },
              }
            : {}),
        },
      ]),
    ),
  };
}

/** Runs Helm on the release. */
export function helmOf({ kubeconfig }: Kubernetes) {
  const run = (...args: readonly string[]) => runHelm(...args, "--kubeconfig", kubeconfig, "--namespace", namespace);
  return {
    /** Installs the chart, or changes the release, and waits until every pod is ready. */
    async install(engines: OutsideEngines, wanted: Wanted): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), "tessera-release-"));
      try {
        const file = join(folder, "values.json");
        await writeFile(file, JSON.stringify(valuesFor(engines, wanted)));
        const how = ["--install", "--values", file, "--wait", "--timeout", "10m"];
        return await run("upgrade", releaseName, chart, ...how);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    test: () => run("test", releaseName, "--logs", "--timeout", "5m"),
    rollback: (revision: number) => run("rollback", releaseName, String(revision), "--wait", "--timeout", "10m"),
    uninstall: () => run("uninstall", releaseName, "--wait", "--timeout", "10m"),
  };
}
