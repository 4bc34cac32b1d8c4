import { createRequire } from "node:module";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { Fields, Log } from "@tessera/kit/log";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import kafkajs, {
  type Admin,
  type Consumer,
  type ISocketFactoryArgs,
  type LogEntry,
  type Producer,
  type SASLOptions,
} from "kafkajs";

export type { Admin, Consumer, EachBatchPayload, IHeaders, KafkaMessage, Message, Producer } from "kafkajs";

/** Where the brokers are, and as whom we come. */
export interface KafkaAccess {
  /** To begin with, as `host:port`; the cluster tells the others. */
  readonly brokers: readonly string[];
  /** Names this process in the brokers' logs and quotas. */
  readonly clientId: string;
  /** TLS: `true` trusts the system's authorities, `ca` (PEM) instead of them. */
  readonly ssl?: true | { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: {
    readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
    readonly username: string;
    readonly password: string;
  };
  readonly log: Log;
}

/** A producer that owns its transactional id: a later producer with that id fences it. */
export interface TransactionalProducer {
  readonly producer: Producer;
  /** The partitions that messages were meant for since it was last cleared. */
  readonly aimedAt: Set<number>;
}

export interface KafkaClient {
  /** Nothing is connected yet. */
  producer(transactionalId: string): TransactionalProducer;
  /** Nothing is connected yet; it never starts again by itself. */
  consumer(options: { groupId: string; sessionTimeoutMs: number; heartbeatIntervalMs: number }): Consumer;
  /** Connects, lets work be done within this time, and disconnects. */
  administer<T>(ms: number, work: (admin: Admin) => Promise<T>): Promise<T>;
}

/** The coordinator ends by itself what a killed producer had begun. */
const transactionTimeoutMs = 30_000;

/** A broker that accepts connections and does not answer counts as lost by then. */
const requestTimeoutMs = 10_000;
const connectionTimeoutMs = 2000;
const keepAliveMs = 30_000;

/** Short: after a failure fresh connections are opened, which heals more than repeating does. */
const retry = { initialRetryTime: 100, maxRetryTime: 1000, retries: 5 };

/** After a commit the coordinator is busy for some milliseconds, and the next transaction meets that. */
const retryProducing = { initialRetryTime: 5, multiplier: 1.3, maxRetryTime: 500, retries: 16 };

/** Idle consumers notice a rebalance, and the wish to leave, as late as this. */
const fetchWaitMs = 250;

/**
 * Of one partition, compressed: some transactions' worth. All partitions are fetched at once, and what waits in memory
 * meanwhile is looked at by every collection of garbage.
 */
const fetchBytes = 256 * 1024;

/** As many partitions of one topic are handed over side by side. */
const partitionsAtOnce = 64;

/** Makes the way to a cluster. This file alone knows kafkajs. */
export function kafkaClient({ brokers, clientId, ssl, sasl, log }: KafkaAccess): KafkaClient {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl: sasl as SASLOptions }),
    connectionTimeout: connectionTimeoutMs,
    authenticationTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    socketFactory: openSocket,
    retry,
    logLevel: kafkajs.logLevel.WARN,
    // It calls errors what it then mends; what matters comes back to us as a rejection, and is told once.
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
        // A connection that was made too late must not stay.
        void working.then(disconnect, disconnect);
      }
    },
  };
}

function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket =
    ssl === undefined || ssl === null
      ? connectPlain({ host, port }, onConnect)
      : connectTls({ host, port, ...servername, ...ssl }, onConnect);
  socket.setKeepAlive(true, keepAliveMs);
  // A request is written whole; holding back its end for an answer that waits for it costs forty milliseconds.
  socket.setNoDelay(true);
  // kafkajs disconnects a dead connection many times over, and each time leaves a listener.
  socket.setMaxListeners(0);
  return socket;
}

export const kafkaSettings = { partitionsAtOnce, requestTimeoutMs } as const;

export const gzip = kafkajs.CompressionTypes.GZIP;
export const uncompressed = kafkajs.CompressionTypes.None;
export const resourceType = kafkajs.ConfigResourceTypes.TOPIC;
/** Where a setting was made: at the topic itself. */
export const topicSetting = kafkajs.ConfigSource.TOPIC_CONFIG;

/** What the broker called the failure, looked for below all wrappings: `UNKNOWN_TOPIC_OR_PARTITION`. */
export function kafkaErrorType(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if ("type" in at && typeof at.type === "string") return at.type;
  }
  return undefined;
}

export function topicMissing(topic: string, cause: unknown): Fault {
  return fault("topic_missing", `there is no topic ${topic}: run tessera topics apply`, { cause });
}

/** Its text names brokers and calls, never contents. */
function toFields({ namespace, log: { message, error, broker, groupId, topic, partition } }: LogEntry): Fields {
  return { part: namespace, said: message, cause: error, broker, groupId, topic, partition };
}

interface RequestQueue {
  pending: readonly unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/** The version whose request queue is replaced in part. */
const knownVersion = "2.2.4";

/**
 * Lets idle connections rest. As shipped, each looks every millisecond whether a request waits (one to two
 * per cent of a core per connection), and asks for that with a negative delay, of which Node warns. With nothing waiting
 * there is nothing to look for: whatever is put into the queue asks again.
 */
export function letIdleConnectionsRest({ version, prototype }: { version: string; prototype: RequestQueue }): void {
  const { scheduleCheckPendingRequests: schedule, checkPendingRequests: check } = prototype;
  if (version !== knownVersion || typeof schedule !== "function" || typeof check !== "function") {
    throw new Error(
      `the request queue of kafkajs ${version} is not the one that packages/engines/src/kafka-client.ts replaces in part (${knownVersion}): see whether idle connections rest there by themselves, and adapt or remove the replacement`,
    );
  }
  prototype.scheduleCheckPendingRequests = function () {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const pauseMs = Math.max(10, this.throttledUntil - Date.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, pauseMs);
  };
}

const load = createRequire(import.meta.url);
const { version } = load("kafkajs/package.json") as { version: string };
const { prototype } = load("kafkajs/src/network/requestQueue/index.js") as { prototype: RequestQueue };
letIdleConnectionsRest({ version, prototype });
