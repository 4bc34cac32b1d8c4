import { choice, durationMs, int, optional, optionalSecret, text, url } from "@tessera/kit/config";
import { logLevels } from "@tessera/kit/log";

/** Which engines a process uses beside PostgreSQL, and how it reaches them. */
export const engineSettings = {
  bus: choice("BUS", ["memory", "kafka"], "memory", "What facts travel through; memory reaches one process only."),
  kafkaBrokers: optional(
    text(
      "KAFKA_BROKERS",
      undefined,
      "Brokers to begin with, as host:port, separated by commas; needed with BUS=kafka.",
    ),
  ),
  kafkaTopicPrefix: text("KAFKA_TOPIC_PREFIX", "tessera.", "What the names of all topics and groups begin with."),
  kafkaTls: choice("KAFKA_TLS", ["off", "on"], "off", "Whether brokers are reached by TLS."),
  kafkaSaslMechanism: choice(
    "KAFKA_SASL_MECHANISM",
    ["none", "plain", "scram-sha-256", "scram-sha-512"],
    "none",
    "How this process makes itself known to the brokers.",
  ),
  kafkaSaslUsername: text("KAFKA_SASL_USERNAME", "tessera", "The name for KAFKA_SASL_MECHANISM."),
  kafkaSaslPassword: optionalSecret("KAFKA_SASL_PASSWORD", "The password for KAFKA_SASL_MECHANISM."),
  cache: choice("CACHE", ["memory", "redis"], "memory", "What processes tell each other through without needing it."),
  redisUrl: optionalSecret(
    "REDIS_URL",
    "Where Redis or Valkey answers, user and password included; needed with CACHE=redis.",
  ),
  redisPrefix: text("REDIS_PREFIX", "tessera:", "What the names of all keys and channels begin with."),
  files: choice("FILES", ["disk", "s3"], "disk", "Where uploads and results lie."),
  filesDirectory: text("FILES_DIR", ".tessera/files", "The folder for FILES=disk; several processes may share it."),
  s3Endpoint: optional(url("S3_ENDPOINT", undefined, "The S3 server; Amazon's own when left out.")),
  s3Region: text("S3_REGION", "us-east-1", "The region of the bucket."),
  s3Bucket: optional(text("S3_BUCKET", undefined, "The bucket; needed with FILES=s3.")),
  s3Prefix: text("S3_PREFIX", "tessera/", "What all keys in the bucket begin with."),
  s3PathStyle: choice(
    "S3_PATH_STYLE",
    ["off", "on"],
    "off",
    "Whether the bucket stands in the path, as most servers but Amazon's want.",
  ),
  s3AccessKey: optionalSecret("S3_ACCESS_KEY_ID", "The access key; the usual places are searched when left out."),
  s3SecretKey: optionalSecret("S3_SECRET_ACCESS_KEY", "The secret that belongs to S3_ACCESS_KEY_ID."),
} as const;

/** How topics are made. */
export const topicSettings = {
  kafkaReplicationFactor: optional(
    int(
      "KAFKA_REPLICATION_FACTOR",
      undefined,
      [1, 9],
      "Copies of each topic; 3 where there are three brokers, else 1.",
    ),
  ),
  kafkaMinInSyncReplicas: optional(
    int(
      "KAFKA_MIN_IN_SYNC_REPLICAS",
      undefined,
      [1, 9],
      "How many copies must have a fact before it counts; 2 of 3 copies, else 1.",
    ),
  ),
} as const;

/** How a process behaves among others. */
export const processSettings = {
  logLevel: choice("LOG_LEVEL", logLevels, "info", "The least urgent lines that are logged."),
  grpcHost: text("GRPC_HOST", "0.0.0.0", "Address to serve gRPC on, where not all services are in this process."),
  grpcPort: int(
    "GRPC_PORT",
    50_051,
    [0, 65_535],
    "Port to serve gRPC on, where not all services are in this process; a second service takes the next port.",
  ),
  grpcMaxAge: durationMs(
    "GRPC_MAX_AGE",
    300_000,
    "Callers are asked to connect anew after about this long (give or take a tenth), so that they find new replicas.",
  ),
  metricsHost: text("METRICS_HOST", "127.0.0.1", "Address of health and metrics; 0.0.0.0 in a container."),
  shutdownDelay: durationMs(
    "SHUTDOWN_DELAY",
    0,
    "How long a process that is told to stop goes on taking requests while balancers learn that it is not ready.",
  ),
} as const;
