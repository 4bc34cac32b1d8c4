import { memoryCache } from "@tessera/engines/cache/memory-cache";
import type { RedisAccess } from "@tessera/engines/cache/redis";
import { diskFiles } from "@tessera/engines/files/disk";
import type { KafkaAccess } from "@tessera/engines/kafka/client";
import { memoryBus } from "@tessera/engines/memory-bus";
import { readTlsFiles, type TlsFiles } from "@tessera/engines/tls-files";
import type { Bus } from "@tessera/kit/bus/bus";
import type { Cache } from "@tessera/kit/cache/cache";
import type { Config } from "@tessera/kit/config/config";
import type { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { ServiceDefinition } from "@tessera/kit/service";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { engineSettings } from "../configuration/engine-settings.ts";
import { fault } from "../faults.ts";

// Clients are loaded lazily: a process without Kafka starts without its client.

type EngineConfig = Config<typeof engineSettings>;

/** Opens the bus, which transports facts. */
export async function openBus(
  config: EngineConfig,
  { definitions, log }: { definitions: readonly Pick<ServiceDefinition, "name" | "consumes">[]; log: Log },
): Promise<Bus> {
  if (config.bus === "memory")
    return memoryBus(definitions.flatMap(({ name, consumes }) => consumes.map((topic) => ({ group: name, topic }))));
  const { kafkaBus } = await import("@tessera/engines/kafka/kafka");
  const clientId = `tessera-${definitions.length === 1 ? definitions[0]?.name : "all"}`;
  return kafkaBus({ ...kafkaAccess(config, { clientId, log }), topicPrefix: config.kafkaTopicPrefix });
}

/** How to connect to the brokers. */
export function kafkaAccess(config: EngineConfig, { clientId, log }: { clientId: string; log: Log }): KafkaAccess {
  const { kafkaSaslMechanism: mechanism, kafkaSaslPassword: password } = config;
  if (mechanism !== "none" && password === undefined)
    throw missing("KAFKA_SASL_PASSWORD", `KAFKA_SASL_MECHANISM=${mechanism}`);
  if (mechanism === "none" && password !== undefined)
    throw wrong("KAFKA_SASL_PASSWORD needs KAFKA_SASL_MECHANISM: plain, scram-sha-256 or scram-sha-512");
  const tls = kafkaTls(config);
  return {
    brokers: readBrokers(required(config.kafkaBrokers, "KAFKA_BROKERS", "BUS=kafka")),
    clientId,
    ...(tls === undefined ? {} : { tls }),
    ...(mechanism === "none" || password === undefined
      ? {}
      : { sasl: { mechanism, username: config.kafkaSaslUsername, password: password.reveal() } }),
    log,
  };
}

function kafkaTls(config: EngineConfig): TlsFiles | undefined {
  const { kafkaTlsAuthority: authority, kafkaTlsCertificate: certificate, kafkaTlsKey: key } = config;
  if (config.kafkaTls === "off") {
    if ((authority ?? certificate ?? key) !== undefined)
      throw wrong("KAFKA_TLS_CA, KAFKA_TLS_CERT and KAFKA_TLS_KEY need KAFKA_TLS=on");
    return undefined;
  }
  if ((certificate === undefined) !== (key === undefined))
    throw wrong("KAFKA_TLS_CERT and KAFKA_TLS_KEY go together: set both or none");
  const files = { authority, certificate, key };
  // A client would retry forever with unusable files.
  readTlsFiles(files);
  return files;
}

function readBrokers(text: string): string[] {
  const brokers = text.split(",").map((broker) => broker.trim());
  if (!brokers.every((broker) => /^(?:\[[0-9a-f:.]+\]|[^\s:/]+):\d{1,5}$/i.test(broker)))
    throw wrong("KAFKA_BROKERS must be host:port, or several of them separated by commas");
  return brokers;
}

/** Opens the cache; the platform works without it. */
export async function openCache(
  config: EngineConfig,
  { log, metrics }: { log: Log; metrics: Metrics },
): Promise<Cache> {
  if (config.cache === "memory") return memoryCache();
  const { redisCache } = await import("@tessera/engines/cache/redis");
  return redisCache({ ...redisAccess(config), prefix: config.redisPrefix, log, metrics });
}

/** How to connect to Redis. */
export function redisAccess(config: EngineConfig): RedisAccess {
  const url = required(config.redisUrl, "REDIS_URL", "CACHE=redis").reveal();
  const { redisTlsAuthority: authority } = config;
  if (authority === undefined) return { url };
  if (!url.startsWith("rediss:")) throw wrong("REDIS_TLS_CA needs an address with TLS: rediss://");
  readTlsFiles({ authority });
  return { url, authority };
}

/** Opens the file store. */
export async function openFiles(config: EngineConfig): Promise<Files> {
  if (config.files === "disk") return diskFiles({ directory: config.filesDirectory });
  const { s3Files } = await import("@tessera/engines/files/s3");
  const { s3Endpoint: endpoint, s3AccessKey: accessKeyId, s3SecretKey: secretAccessKey } = config;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw wrong("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY go together: set both or none");
  return s3Files({
    ...s3Tls(config),
    bucket: required(config.s3Bucket, "S3_BUCKET", "FILES=s3"),
    region: config.s3Region,
    prefix: config.s3Prefix,
    pathStyle: config.s3PathStyle === "on",
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId: accessKeyId.reveal(), secretAccessKey } }),
  });
}

/** The accepted authorities for the certificate of the file store. */
function s3Tls({ s3Endpoint, s3TlsAuthority: authority }: EngineConfig): { authority?: string } {
  if (authority === undefined) return {};
  if (s3Endpoint?.startsWith("http:") === true)
    throw wrong("S3_TLS_CA needs an address with TLS in S3_ENDPOINT: https://");
  readTlsFiles({ authority });
  return { authority };
}

function required<T>(value: T | undefined, name: string, because: string): T {
  if (value === undefined) throw missing(name, because);
  return value;
}

function missing(name: string, because: string): Fault {
  return wrong(`${name} is required with ${because}`);
}

function wrong(problem: string): Fault {
  return fault("configuration_invalid", `configuration:\n  ${problem}`);
}
