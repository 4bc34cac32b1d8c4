import { describe, expect, it } from "vitest";
import { renderText, type ValueSet } from "./render-chart.ts";

interface Refusal {
  readonly name: string;
  readonly set?: ValueSet;
  readonly values: object;
  readonly says: string;
}

const contradictions: readonly Refusal[] = [
  { name: "no database", values: { postgres: { existingSecret: "" } }, says: "postgres.existingSecret is empty" },
  { name: "no brokers", values: { kafka: { brokers: "" } }, says: "kafka.brokers is empty" },
  {
    name: "an account at the brokers without a password",
    values: { kafka: { sasl: { mechanism: "plain" } } },
    says: "kafka.sasl.mechanism is set without kafka.sasl.existingSecret",
  },
  {
    name: "a secret of an account at the brokers that is not used",
    values: { kafka: { sasl: { existingSecret: "kafka" } } },
    says: "kafka.sasl has an account and kafka.sasl.mechanism is none",
  },
  {
    name: "the name of an account at the brokers that is not used",
    values: { kafka: { sasl: { username: "tessera" } } },
    says: "kafka.sasl has an account and kafka.sasl.mechanism is none",
  },
  {
    name: "authorities without TLS",
    values: { kafka: { tls: { enabled: false, existingSecret: "kafka" } } },
    says: "kafka.tls.existingSecret is set and kafka.tls.enabled is false",
  },
  {
    name: "a certificate for the brokers from nowhere",
    values: { kafka: { tls: { clientCertificate: true } } },
    says: "kafka.tls.clientCertificate needs kafka.tls.existingSecret",
  },
  {
    name: "an authority of no Redis",
    values: { redis: { caExistingSecret: "redis-ca" } },
    says: "redis.caExistingSecret is set without redis.existingSecret",
  },
  {
    name: "a provider of identities without a secret",
    values: { oidc: { issuer: "https://login.example.org" } },
    says: "oidc.issuer is set without oidc.existingSecret",
  },
  {
    name: "a secret of no provider of identities",
    values: { oidc: { existingSecret: "oidc" } },
    says: "oidc.existingSecret is set without oidc.issuer",
  },
  {
    name: "an authority of a file store without TLS",
    values: { objectStore: { endpoint: "http://s3:9000", caExistingSecret: "s3-ca" } },
    says: "objectStore.caExistingSecret is for an endpoint with https",
  },
  { name: "no bucket", values: { objectStore: { bucket: "" } }, says: "objectStore.bucket is empty" },
  {
    name: "a browser without its sandbox",
    values: {
      services: { "layout-and-render": { podSecurityContext: { seccompProfile: { type: "RuntimeDefault" } } } },
    },
    says: "seccompProfile is RuntimeDefault, which forbids the sandbox of the browser",
  },
  { name: "no public address", values: { baseUrl: "" }, says: "baseUrl is empty" },
  {
    name: "calls without TLS",
    values: { grpc: { certificateSecretPrefix: "" } },
    says: "grpc.certificateSecretPrefix is empty",
  },
  {
    name: "certificates and a mesh",
    values: { grpc: { meshEncrypts: true } },
    says: "grpc.certificateSecretPrefix and grpc.meshEncrypts exclude each other",
  },
  {
    name: "two ways to one host",
    set: "full",
    values: { httpRoute: { hostnames: ["tickets.example.org"] } },
    says: "ingress and httpRoute both serve tickets.example.org",
  },
  {
    name: "a route to no Gateway",
    values: { httpRoute: { enabled: true } },
    says: "httpRoute.parentRefs is empty",
  },
  {
    name: "an Ingress that may not reach the gateway",
    values: { ingress: { enabled: true }, networkPolicy: { ingressFrom: [] } },
    says: "networkPolicy.ingressFrom is empty",
  },
  {
    name: "less time to stop than it takes",
    values: { services: { checkin: { terminationGracePeriodSeconds: 49 } } },
    says: "services.checkin.terminationGracePeriodSeconds is 49 and must be at least 50",
  },
  {
    name: "more pods at least than at most",
    values: { services: { checkin: { autoscaling: { minReplicas: 13 } } } },
    says: "services.checkin.autoscaling.minReplicas is above maxReplicas",
  },
  {
    name: "KEDA without Prometheus",
    values: { services: { voucher: { autoscaling: { kind: "keda" } } } },
    says: "services.voucher.autoscaling.kind is keda",
  },
  {
    name: "an autoscaler without a request to measure against",
    values: {
      defaults: { resources: { requests: { cpu: null } } },
      services: { gateway: { resources: { requests: { cpu: null } } } },
    },
    says: "services.gateway.resources.requests.cpu is missing",
  },
  {
    name: "one account that each service would make",
    values: { defaults: { serviceAccount: { name: "tickets" } } },
    says: "defaults.serviceAccount.name is tickets with create",
  },
  {
    name: "a variable that the chart sets, too",
    values: { services: { checkin: { extraEnv: [{ name: "DATABASE_URL", value: "postgresql://db/tessera" }] } } },
    says: "services.checkin.extraEnv sets DATABASE_URL once more: leave it out",
  },
  {
    name: "a variable that is a setting, too",
    values: {
      services: { checkin: { settings: { REDEEM_BATCHES: 4 }, extraEnv: [{ name: "REDEEM_BATCHES", value: "2" }] } },
    },
    says: "services.checkin.extraEnv sets REDEEM_BATCHES once more",
  },
  {
    name: "a variable of every pod that a Job has, too",
    values: { defaults: { extraEnv: [{ name: "KAFKA_BROKERS", value: "kafka:9092" }] } },
    says: "defaults.extraEnv sets KAFKA_BROKERS of the Job topics once more",
  },
  {
    name: "a container with the name of that of the service",
    values: { services: { checkin: { extraContainers: [{ name: "checkin", image: "proxy:1" }] } } },
    says: "services.checkin has an entry of extraContainers or initContainers without a name of its own",
  },
  {
    name: "a container without a name",
    values: { defaults: { extraContainers: [{ image: "proxy:1" }] } },
    says: "services.voucher has an entry of extraContainers or initContainers without a name of its own",
  },
  {
    name: "a service without a connection string",
    values: {
      postgres: { existingSecret: "", migrationExistingSecret: "admin" },
      services: { voucher: { postgresExistingSecret: "voucher-app" } },
    },
    says: "services.checkin has no connection string",
  },
  {
    name: "a door for shops that nothing may use",
    values: { services: { voucher: { outsideService: { enabled: true } } } },
    says: "services.voucher.outsideService is enabled and networkPolicy.outsideCallersFrom.shop is empty",
  },
  {
    name: "an account that neither exists nor is made",
    values: { defaults: { serviceAccount: { create: false } } },
    says: "services.voucher.serviceAccount.create is false",
  },
];

describe("[Y4.9] values that contradict each other are refused with a sentence", () => {
  it.each(contradictions)("$name", async ({ set = "minimal", values, says }) => {
    await expect(renderText(set, { values })).rejects.toThrow(says);
  });
});

it("all contradictions are named at once", async () => {
  const rendering = renderText("minimal", { values: { baseUrl: "", objectStore: { bucket: "" } } });
  await expect(rendering).rejects.toThrow(/cannot be installed:\n {2}- objectStore\.bucket[^\n]+\n {2}- baseUrl/);
});

const mistakes: readonly Refusal[] = [
  { name: "a misspelt key", values: { postgress: {} }, says: "postgress" },
  { name: "a misspelt key inside", values: { kafka: { broker: "kafka:9092" } }, says: "broker" },
  { name: "a misspelt service", values: { services: { checkins: {} } }, says: "checkins" },
  {
    name: "a release without a service that others need",
    values: { services: { boxoffice: { enabled: false } } },
    says: "enabled",
  },
  { name: "a misspelt key of a service", values: { services: { checkin: { replica: 2 } } }, says: "replica" },
  { name: "a misspelt key in its map", values: { defaults: { autoscaling: { min: 1 } } }, says: "min" },
  {
    name: "an unknown setting",
    values: { services: { checkin: { settings: { RATE_LIMIT: 1 } } } },
    says: "RATE_LIMIT",
  },
  { name: "a setting that the chart makes", values: { defaults: { settings: { GRPC_PORT: 1 } } }, says: "GRPC_PORT" },
  { name: "a number for a text", values: { baseUrl: 5 }, says: "baseUrl" },
  { name: "an address with a path", values: { baseUrl: "https://example.org/shop" }, says: "baseUrl" },
  { name: "brokers without ports", values: { kafka: { brokers: "kafka" } }, says: "brokers" },
  { name: "an unknown word", values: { migrations: { kind: "initContainer" } }, says: "kind" },
  { name: "a password for the name of a Secret", values: { redis: { existingSecret: "Hunter 2!" } }, says: "redis" },
  // Processes take an empty prefix for one that is not set.
  { name: "no prefix of topics", values: { kafka: { topicPrefix: "" } }, says: "topicPrefix" },
  { name: "no prefix in Redis", values: { redis: { prefix: "" } }, says: "redis/prefix" },
  { name: "no prefix in the bucket", values: { objectStore: { prefix: "" } }, says: "objectStore/prefix" },
  { name: "a tag for a digest", values: { image: { digest: "v1" } }, says: "digest" },
];

describe("values that the schema does not have are refused", () => {
  it.each(mistakes)("$name", async ({ set = "minimal", values, says }) => {
    await expect(renderText(set, { values })).rejects.toThrow(
      new RegExp(`don't meet the specifications of the schema[\\s\\S]*${says}`),
    );
  });
});
