import { deadLettersKeptMs } from "@tessera/kit/bus/keep-tables";
import { choice, durationMs, int, optional, secret, text, url } from "@tessera/kit/config/config";
import { logLevels } from "@tessera/kit/telemetry/log";

/** The engines that a process uses beside PostgreSQL, and how it connects to them. */
export const engineSettings = {
  bus: choice("BUS", ["memory", "kafka"], "memory", "What transports facts; memory reaches one process only."),
  kafkaBrokers: optional(
    text(
      "KAFKA_BROKERS",
      undefined,
      "Brokers for the first connection, as host:port, separated by commas; required with BUS=kafka.",
    ),
  ),
  kafkaTopicPrefix: text("KAFKA_TOPIC_PREFIX", "tessera.", "The prefix of all topics and groups."),
  kafkaTls: choice("KAFKA_TLS", ["off", "on"], "off", "Whether connections to the brokers use TLS."),
  kafkaTlsAuthority: optional(
    text("KAFKA_TLS_CA", undefined, "A PEM file with the authorities of the brokers; default: those of Node."),
  ),
  kafkaTlsCertificate: optional(
    text("KAFKA_TLS_CERT", undefined, "A PEM file with the certificate of this process for the brokers."),
  ),
  kafkaTlsKey: optional(text("KAFKA_TLS_KEY", undefined, "A PEM file with the key of KAFKA_TLS_CERT.")),
  kafkaSaslMechanism: choice(
    "KAFKA_SASL_MECHANISM",
    ["none", "plain", "scram-sha-256", "scram-sha-512"],
    "none",
    "How this process authenticates to the brokers.",
  ),
  kafkaSaslUsername: text("KAFKA_SASL_USERNAME", "tessera", "The name for KAFKA_SASL_MECHANISM."),
  kafkaSaslPassword: optional(secret("KAFKA_SASL_PASSWORD", "The password for KAFKA_SASL_MECHANISM.")),
  cache: choice(
    "CACHE",
    ["memory", "redis"],
    "memory",
    "What processes share the counts of limits through; the platform works without it.",
  ),
  redisUrl: optional(
    secret("REDIS_URL", "The address of Redis or Valkey with user and password; required with CACHE=redis."),
  ),
  redisTlsAuthority: optional(
    text(
      "REDIS_TLS_CA",
      undefined,
      "A PEM file with the authorities of a server at rediss://; default: those of Node.",
    ),
  ),
  redisPrefix: text("REDIS_PREFIX", "tessera:", "The prefix of all keys and channels."),
  files: choice("FILES", ["disk", "s3"], "disk", "Where uploads and results are stored."),
  filesDirectory: text("FILES_DIR", ".tessera/files", "The folder for FILES=disk; several processes may share it."),
  s3Endpoint: optional(
    url("S3_ENDPOINT", undefined, "The S3 server; default: Amazon.", { example: "http://minio:9000" }),
  ),
  s3TlsAuthority: optional(
    text("S3_TLS_CA", undefined, "A PEM file with the authorities of S3_ENDPOINT; default: those of Node."),
  ),
  s3Region: text("S3_REGION", "us-east-1", "The region of the bucket."),
  s3Bucket: optional(text("S3_BUCKET", undefined, "The bucket; required with FILES=s3.")),
  s3Prefix: text("S3_PREFIX", "tessera/", "The prefix of all keys in the bucket."),
  s3PathStyle: choice(
    "S3_PATH_STYLE",
    ["off", "on"],
    "off",
    "Whether the bucket is part of the path; most servers but Amazon require it.",
  ),
  s3AccessKey: optional(secret("S3_ACCESS_KEY_ID", "The access key; default: the usual places of the AWS SDK.")),
  s3SecretKey: optional(secret("S3_SECRET_ACCESS_KEY", "The secret of S3_ACCESS_KEY_ID.")),
} as const;

/** How topics are created. */
export const topicSettings = {
  kafkaReplicationFactor: optional(
    int("KAFKA_REPLICATION_FACTOR", undefined, [1, 9], "Copies of each topic; default: 3 with three brokers, else 1."),
  ),
  kafkaMinInSyncReplicas: optional(
    int(
      "KAFKA_MIN_IN_SYNC_REPLICAS",
      undefined,
      [1, 9],
      "How many copies must hold a fact before it is accepted; default: 2 of 3 copies, else 1.",
    ),
  ),
} as const;

/** How a process works with others. */
export const processSettings = {
  logLevel: choice("LOG_LEVEL", logLevels, "info", "The least severe level that is logged."),
  grpcHost: text(
    "GRPC_HOST",
    "127.0.0.1",
    "Address to serve gRPC on, for single services; one that other machines reach needs GRPC_TLS_CERT.",
  ),
  grpcPort: int(
    "GRPC_PORT",
    50_051,
    [0, 65_535],
    "Port to serve gRPC on, for single services; a second service takes the next port.",
  ),
  grpcMaxAge: durationMs(
    "GRPC_MAX_AGE",
    300_000,
    "Callers are asked to reconnect after about this long (give or take a tenth), so that they find new replicas.",
  ),
  grpcTlsCertificate: optional(
    text(
      "GRPC_TLS_CERT",
      undefined,
      "A PEM file with the certificate that this process shows to peers; GRPC_TLS_KEY and GRPC_TLS_CA go with it.",
    ),
  ),
  grpcTlsKey: optional(text("GRPC_TLS_KEY", undefined, "A PEM file with the key of GRPC_TLS_CERT.")),
  grpcTlsAuthority: optional(
    text("GRPC_TLS_CA", undefined, "A PEM file with the authorities of the certificates of all services."),
  ),
  grpcInsecure: choice(
    "GRPC_INSECURE",
    ["refuse", "allow"],
    "refuse",
    "Whether gRPC may leave this machine without TLS: only where something else encrypts it and checks who calls.",
  ),
  traces: optional(url("OTEL_EXPORTER_OTLP_ENDPOINT", undefined, "Where traces are sent.")),
  metricsHost: text("METRICS_HOST", "127.0.0.1", "Address of health and metrics; 0.0.0.0 in a container."),
  shutdownDelay: durationMs(
    "SHUTDOWN_DELAY",
    0,
    "How long a stopping process accepts requests while balancers learn that it is not ready.",
  ),
  parkedFactsKept: durationMs(
    "PARKED_FACTS_KEPT",
    deadLettersKeptMs,
    "How long facts are kept that could not be applied or published; they may hold personal data.",
    // A number without its unit would delete them at once.
    { leastMs: 3_600_000 },
  ),
} as const;
