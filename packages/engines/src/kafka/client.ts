import { createRequire } from "node:module";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { Fields, Log } from "@tessera/kit/telemetry/log";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import kafkajs, {
  type Admin,
  type Consumer,
  type ISocketFactoryArgs,
  type LogEntry,
  type Producer,
  type SASLOptions,
} from "kafkajs";
import { readTlsFiles, type TlsFiles } from "../tls-files.ts";
import {
  type ConsumerGroup,
  letIdleConnectionsRest,
  letIdleConsumersRest,
  type RequestQueue,
} from "./patch-kafkajs.ts";

export type { Admin, Consumer, EachBatchPayload, IHeaders, KafkaMessage, Message, Producer } from "kafkajs";

export interface KafkaAccess {
  /** The first brokers to ask, as `host:port`; they name the others. */
  readonly brokers: readonly string[];
  /** Identifies this process in the brokers' logs and quotas. */
  readonly clientId: string;
  /** Encrypts connections, and verifies the names of brokers. The files are read for each connection. */
  readonly tls?: TlsFiles;
  readonly sasl?: {
    readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
    readonly username: string;
    readonly password: string;
  };
  readonly log: Log;
}

/** A producer with a transactional id. A later producer with the same id fences it. */
export interface TransactionalProducer {
  readonly producer: Producer;
  /** The target partitions of messages since it was last cleared. */
  readonly aimedAt: Set<number>;
}

export interface KafkaClient {
  /** It is not connected yet. */
  producer(transactionalId: string): TransactionalProducer;
  /** It is not connected yet, and never restarts by itself. */
  consumer(options: { groupId: string; sessionTimeoutMs: number; heartbeatIntervalMs: number }): Consumer;
  /** Connects, runs work within this time, and disconnects. */
  administer<T>(ms: number, work: (admin: Admin) => Promise<T>): Promise<T>;
}

/** After this time the coordinator aborts the transaction of a killed producer. */
const transactionTimeoutMs = 30_000;

/** A broker that accepts connections but does not answer for this time counts as lost. */
const requestTimeoutMs = 10_000;
const connectionTimeoutMs = 2000;
const keepAliveMs = 30_000;

/** Few: after a failure new connections are opened, which helps more than retries. */
const retry = { initialRetryTime: 100, maxRetryTime: 1000, retries: 5 };

/** After a commit the coordinator refuses the next transaction for some milliseconds. */
const retryProducing = { initialRetryTime: 5, multiplier: 1.3, maxRetryTime: 500, retries: 16 };

/**
 * `fetch.max.wait.ms`: short for busy consumers, because a partition that was paused for a long delivery waits for it;
 * an idle consumer waits longer (`letIdleConsumersRest`).
 */
const fetchWaitMs = 250;

/**
 * The compressed size of one fetch from one partition, enough for some transactions. All partitions are fetched at
 * once, and the garbage collector visits waiting messages.
 */
const fetchBytes = 256 * 1024;

/** The most partitions of one topic that are delivered at a time. */
const partitionsAtOnce = 64;

/** Only this file and the patch know kafkajs. */
export function kafkaClient({ brokers, clientId, tls, sasl, log }: KafkaAccess): KafkaClient {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId,
    ...(tls === undefined ? {} : { ssl: true }),
    ...(sasl === undefined ? {} : { sasl: sasl as SASLOptions }),
    connectionTimeout: connectionTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    socketFactory: (to) => openSocket(to, tls),
    retry,
    logLevel: kafkajs.logLevel.WARN,
    // kafkajs logs errors that it repairs by itself. Real failures are rejections, and their caller logs them once.
    logCreator: () => (entry) => log.debug("kafka client", toFields(entry)),
  });
  return {
    producer(transactionalId) {
      const aimedAt = new Set<number>();
      const producer = kafka.producer({
        transactionalId,
        transactionTimeout: transactionTimeoutMs,
        allowAutoTopicCreation: false,
        retry: retryProducing,
        createPartitioner: () => {
          const choose = kafkajs.Partitioners.DefaultPartitioner();
          return (message) => {
            const partition = choose(message);
            aimedAt.add(partition);
            return partition;
          };
        },
      });
      return { producer, aimedAt };
    },
    consumer: ({ groupId, sessionTimeoutMs, heartbeatIntervalMs }) =>
      kafka.consumer({
        groupId,
        sessionTimeout: sessionTimeoutMs,
        rebalanceTimeout: sessionTimeoutMs,
        heartbeatInterval: heartbeatIntervalMs,
        maxWaitTimeInMs: fetchWaitMs,
        maxBytesPerPartition: fetchBytes,
        allowAutoTopicCreation: false,
        retry: { ...retry, restartOnFailure: async () => false },
      }),
    async administer(ms, work) {
      const admin = kafka.admin();
      const working = admin.connect().then(() => work(admin));
      try {
        return await waitAtMost(ms, working, () => new Error(`the brokers did not answer within ${ms} ms`));
      } finally {
        const disconnect = () => admin.disconnect().catch(() => {});
        void disconnect();
        // A connection that was made too late must be closed, too.
        void working.then(disconnect, disconnect);
      }
    },
  };
}

function openSocket({ host, port, onConnect }: ISocketFactoryArgs, tls: TlsFiles | undefined): Socket {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket =
    tls === undefined
      ? connectPlain({ host, port }, onConnect)
      : connectTls({ host, port, ...servername, ...readTlsFiles(tls) }, onConnect);
  socket.setKeepAlive(true, keepAliveMs);
  // A request is written in one piece. Nagle's algorithm would delay its end by forty milliseconds.
  socket.setNoDelay(true);
  // kafkajs disconnects a dead connection many times, and adds a listener each time.
  socket.setMaxListeners(0);
  return socket;
}

export const kafkaSettings = { partitionsAtOnce, requestTimeoutMs } as const;

/** Resource types, operations and patterns of ACLs, by their names in Kafka's own tools. */
export const aclNumbers = {
  resources: {
    topic: kafkajs.AclResourceTypes.TOPIC,
    group: kafkajs.AclResourceTypes.GROUP,
    "transactional-id": kafkajs.AclResourceTypes.TRANSACTIONAL_ID,
  },
  operations: {
    Read: kafkajs.AclOperationTypes.READ,
    Write: kafkajs.AclOperationTypes.WRITE,
    Create: kafkajs.AclOperationTypes.CREATE,
    Alter: kafkajs.AclOperationTypes.ALTER,
    Describe: kafkajs.AclOperationTypes.DESCRIBE,
    AlterConfigs: kafkajs.AclOperationTypes.ALTER_CONFIGS,
    DescribeConfigs: kafkajs.AclOperationTypes.DESCRIBE_CONFIGS,
  },
  allow: kafkajs.AclPermissionTypes.ALLOW,
  patterns: { literal: kafkajs.ResourcePatternTypes.LITERAL, prefixed: kafkajs.ResourcePatternTypes.PREFIXED },
} as const;

export const gzip = kafkajs.CompressionTypes.GZIP;
export const uncompressed = kafkajs.CompressionTypes.None;
export const resourceType = kafkajs.ConfigResourceTypes.TOPIC;
/** The source of a setting that was set on the topic itself. */
export const topicSetting = kafkajs.ConfigSource.TOPIC_CONFIG;

/** The broker's name of a failure, such as `UNKNOWN_TOPIC_OR_PARTITION`, also within wrapped errors. */
export function kafkaErrorType(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if ("type" in at && typeof at.type === "string") return at.type;
  }
  return undefined;
}

export function isRefusedLogin(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "KafkaJSSASLAuthenticationError" || isRefusedLogin(error.cause);
}

export function topicMissing(topic: string, cause: unknown): Fault {
  return fault("topic_missing", `there is no topic ${topic}: run tessera topics apply`, { cause });
}

/** The texts of kafkajs name brokers and calls, never contents. */
function toFields({ namespace, log: { message, error, broker, groupId, topic, partition } }: LogEntry): Fields {
  return { part: namespace, said: message, cause: error, broker, groupId, topic, partition };
}

patchKafkajs();

/** Patches parts of kafkajs that are expensive when idle. */
function patchKafkajs(): void {
  const require = createRequire(import.meta.url);
  const { version } = require("kafkajs/package.json") as { version: string };
  const queue = require("kafkajs/src/network/requestQueue/index.js") as { prototype: RequestQueue };
  letIdleConnectionsRest({ version, prototype: queue.prototype });
  const group = require("kafkajs/src/consumer/consumerGroup.js") as { prototype: ConsumerGroup };
  letIdleConsumersRest({ version, prototype: group.prototype });
}
