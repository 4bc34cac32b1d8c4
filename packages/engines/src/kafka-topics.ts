import { setTimeout as sleep } from "node:timers/promises";
import { fault } from "@tessera/kit/faults";
import type { Retention } from "@tessera/protos/topic";
import {
  type Admin,
  type KafkaAccess,
  kafkaClient,
  kafkaErrorType,
  resourceType,
  topicSetting,
} from "./kafka-client.ts";

/** What of a topic of the catalogue concerns the brokers. */
export interface DeclaredTopic {
  readonly name: string;
  readonly partitions: number;
  readonly retention: Retention;
}

export interface TopicOptions extends KafkaAccess {
  /** Stands before every topic's name on the broker. */
  readonly topicPrefix?: string;
  /** Left out: 3 where there are three brokers, else 1. */
  readonly replicationFactor?: number;
  /** How many replicas must have a message before it is acknowledged. Left out: 2 of 3 replicas, else 1. */
  readonly minInSyncReplicas?: number;
}

/** One thing in which a topic is not as it is declared. */
export interface TopicDifference {
  readonly topic: string;
  /** `topic`, `partitions`, `replication factor`, or the name of a topic's setting. */
  readonly what: string;
  readonly wanted: string;
  /** Undefined: the broker has no such value. */
  readonly found: string | undefined;
  /** `create` and `alter` are done by applyTopics; `decide` is left to a person, and `advice` says why. */
  readonly remedy: "create" | "alter" | "decide";
  readonly advice?: string;
}

/** All that is asked of the brokers in one go. */
const patienceMs = 30_000;

const dayMs = 24 * 60 * 60 * 1000;

/** A consumer that was away for as long still meets the tombstones of what has gone meanwhile. */
const tombstonesKeptMs = 7 * dayMs;

/** Erased personal data must leave the log by itself: the state before the erasure is compacted away this soon. */
const longestCompactionLagMs = dayMs;

/** A fact is some kilobytes; this is room for the one that is not. */
const mostMessageBytes = 4 * 1024 * 1024;

/** Compares the brokers' topics with the catalogue. Topics that are not in it are ignored. */
export async function diffTopics(
  catalogue: readonly DeclaredTopic[],
  options: TopicOptions,
): Promise<readonly TopicDifference[]> {
  return administer(options, (admin) => findDifferences(admin, catalogue, options));
}

/**
 * Creates what is missing and alters settings; it never deletes, and never changes the number of partitions or
 * replicas. Tells what it has done and what is left for a person to decide.
 */
export async function applyTopics(
  catalogue: readonly DeclaredTopic[],
  options: TopicOptions,
): Promise<{ readonly applied: readonly TopicDifference[]; readonly left: readonly TopicDifference[] }> {
  return administer(options, async (admin) => {
    const differences = await findDifferences(admin, catalogue, options);
    const replicas = await replication(admin, options);
    const named = (remedy: TopicDifference["remedy"]) =>
      catalogue.filter(({ name }) => differences.some((found) => found.topic === name && found.remedy === remedy));
    const missing = named("create");
    if (missing.length > 0) {
      await admin.createTopics({
        topics: missing.map((topic) => ({
          topic: kafkaName(topic, options),
          numPartitions: topic.partitions,
          replicationFactor: replicas.factor,
          configEntries: toEntries(settingsOf(topic, replicas)),
        })),
        timeout: patienceMs,
        waitForLeaders: false,
      });
      await untilKnown(
        admin,
        missing.map((topic) => kafkaName(topic, options)),
      );
    }
    for (const topic of named("alter")) await alter(admin, kafkaName(topic, options), settingsOf(topic, replicas));
    return {
      applied: differences.filter(({ remedy }) => remedy !== "decide"),
      left: differences.filter(({ remedy }) => remedy === "decide"),
    };
  });
}

/** A broker knows a new topic a moment after the controller has made it, and denies it until then. */
export async function untilKnown(admin: Admin, names: string[]): Promise<void> {
  for (const until = Date.now() + patienceMs; ; await sleep(50)) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: names });
      if (topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

interface Replicas {
  readonly factor: number;
  readonly minInSync: number;
}

async function replication(admin: Admin, options: TopicOptions): Promise<Replicas> {
  const { brokers } = await admin.describeCluster();
  const factor = options.replicationFactor ?? (brokers.length >= 3 ? 3 : 1);
  return { factor, minInSync: options.minInSyncReplicas ?? (factor >= 3 ? 2 : 1) };
}

function settingsOf({ retention }: DeclaredTopic, { minInSync }: Replicas): Record<string, string> {
  const kept: Record<string, string> =
    retention.kind === "compacted"
      ? {
          "cleanup.policy": "compact",
          "min.cleanable.dirty.ratio": "0.2",
          "delete.retention.ms": String(tombstonesKeptMs),
          "max.compaction.lag.ms": String(longestCompactionLagMs),
        }
      : { "cleanup.policy": "delete", "retention.ms": String(retention.days * dayMs) };
  return {
    ...kept,
    "min.insync.replicas": String(minInSync),
    "max.message.bytes": String(mostMessageBytes),
    // A backlog's age is measured by the broker's clock, not by each producer's.
    "message.timestamp.type": "LogAppendTime",
  };
}

async function findDifferences(
  admin: Admin,
  catalogue: readonly DeclaredTopic[],
  options: TopicOptions,
): Promise<TopicDifference[]> {
  const replicas = await replication(admin, options);
  const existing = new Set(await admin.listTopics());
  const present = catalogue.filter((topic) => existing.has(kafkaName(topic, options)));
  const shapes = await readShapes(
    admin,
    present.map((topic) => kafkaName(topic, options)),
  );
  return catalogue.flatMap((topic) => {
    const shape = shapes.get(kafkaName(topic, options));
    return shape === undefined ? [missing(topic)] : compare(topic, shape, replicas);
  });
}

interface Shape {
  readonly partitions: number;
  readonly factor: number;
  readonly settings: ReadonlyMap<string, string>;
}

async function readShapes(admin: Admin, names: readonly string[]): Promise<Map<string, Shape>> {
  if (names.length === 0) return new Map();
  const [{ topics }, { resources }] = await Promise.all([
    admin.fetchTopicMetadata({ topics: [...names] }),
    admin.describeConfigs({ includeSynonyms: false, resources: names.map((name) => ({ type: resourceType, name })) }),
  ]);
  const settings = new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        partitions: partitions.length,
        factor: partitions[0]?.replicas.length ?? 0,
        settings: settings.get(name) ?? new Map<string, string>(),
      },
    ]),
  );
}

function missing({ name, partitions }: DeclaredTopic): TopicDifference {
  return { topic: name, what: "topic", wanted: `${partitions} partitions`, found: undefined, remedy: "create" };
}

function compare(topic: DeclaredTopic, shape: Shape, replicas: Replicas): TopicDifference[] {
  const differences: TopicDifference[] = [];
  const note = (what: string, wanted: string, found: string | undefined, advice?: string) => {
    if (wanted === found) return;
    const remedy = advice === undefined ? ("alter" as const) : ("decide" as const);
    differences.push({ topic: topic.name, what, wanted, found, remedy, ...(advice === undefined ? {} : { advice }) });
  };
  note("partitions", String(topic.partitions), String(shape.partitions), partitionAdvice(topic, shape));
  note("replication factor", String(replicas.factor), String(shape.factor), replicaAdvice);
  for (const [name, wanted] of Object.entries(settingsOf(topic, replicas)))
    note(name, wanted, shape.settings.get(name));
  return differences;
}

function partitionAdvice(topic: DeclaredTopic, shape: Shape): string {
  return shape.partitions < topic.partitions
    ? "with more partitions a key's next fact lands in another one than those before it, and their order is lost: " +
        "declare a new version of the topic, or recreate this one while nothing writes to it and everything was read"
    : "partitions cannot be taken away; more of them than declared do no harm";
}

const replicaAdvice = "replicas are moved with the brokers' own kafka-reassign-partitions";

/** The request replaces all settings of a topic, so those that somebody else has made go along. */
async function alter(admin: Admin, name: string, wanted: Record<string, string>): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: resourceType, name }],
  });
  const own = (resources[0]?.configEntries ?? []).filter(({ configSource }) => configSource === topicSetting);
  const kept = Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: resourceType, name, configEntries: toEntries({ ...kept, ...wanted }) }],
  });
}

function toEntries(settings: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}

function kafkaName({ name }: DeclaredTopic, { topicPrefix = "" }: TopicOptions): string {
  return `${topicPrefix}${name}`;
}

async function administer<T>(options: TopicOptions, work: (admin: Admin) => Promise<T>): Promise<T> {
  try {
    return await kafkaClient(options).administer(patienceMs, work);
  } catch (error) {
    throw fault(
      "bus_unavailable",
      `the topics could not be read or changed at ${options.brokers.join(", ")} (${kafkaErrorType(error) ?? "no answer"})`,
      { cause: error },
    );
  }
}
