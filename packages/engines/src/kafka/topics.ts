import { setTimeout as sleep } from "node:timers/promises";
import { fault } from "@tessera/kit/faults";
import { mostMessageBytes, type Retention } from "@tessera/protos/topic";
import { type Admin, type KafkaAccess, kafkaClient, kafkaErrorType, resourceType, topicSetting } from "./client.ts";

/** The part of the catalogue's topic that brokers need. */
export interface DeclaredTopic {
  readonly name: string;
  readonly partitions: number;
  readonly retention: Retention;
}

export interface TopicOptions extends KafkaAccess {
  readonly topicPrefix?: string;
  /** By default 3 with three brokers or more, else 1. */
  readonly replicationFactor?: number;
  /** How many replicas must have a message before it is acknowledged. By default 2 of 3 replicas, else 1. */
  readonly minInSyncReplicas?: number;
}

export interface TopicDifference {
  readonly topic: string;
  /** `topic`, `partitions`, `replication factor`, or the name of a topic's setting. */
  readonly what: string;
  readonly wanted: string;
  /** Undefined: the broker has no such value. */
  readonly found: string | undefined;
  /** applyTopics does `create` and `alter`, and leaves `accept`. An operator must `decide` the rest, see `advice`. */
  readonly remedy: "create" | "alter" | "accept" | "decide";
  readonly advice?: string;
}

/** The time for all requests of one call. */
const longestMs = 30_000;

const dayMs = 24 * 60 * 60 * 1000;

/** A consumer that was stopped for this time still gets the tombstones of that time. */
const tombstonesKeptMs = 7 * dayMs;

/** Erased personal data must leave the log: the state before the erasure is compacted within this time. */
const longestCompactionLagMs = dayMs;

/** Compares the brokers' topics with the catalogue. Topics that are not in it are ignored. */
export async function diffTopics(
  catalogue: readonly DeclaredTopic[],
  options: TopicOptions,
): Promise<readonly TopicDifference[]> {
  return administer(options, (admin) => findDifferences(admin, catalogue, options));
}

/** The differences that applyTopics has handled. */
export interface AppliedTopics {
  readonly applied: readonly TopicDifference[];
  /** They may stay. */
  readonly accepted: readonly TopicDifference[];
  /** An operator must decide. */
  readonly left: readonly TopicDifference[];
}

/** Creates missing topics and alters settings. Never deletes a topic, nor changes its partitions or replicas. */
export async function applyTopics(catalogue: readonly DeclaredTopic[], options: TopicOptions): Promise<AppliedTopics> {
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
        timeout: longestMs,
        waitForLeaders: false,
      });
      await untilKnown(
        admin,
        missing.map((topic) => kafkaName(topic, options)),
      );
    }
    const altered = named("alter");
    const names = altered.map((topic) => kafkaName(topic, options));
    const shapes = await readShapes(admin, names);
    for (const topic of altered) {
      const name = kafkaName(topic, options);
      await alter(admin, name, settingsOf(topic, withCopies(replicas, shapes.get(name))));
    }
    if (altered.length > 0) await untilAltered(admin, altered, options);
    const of = (...remedies: readonly TopicDifference["remedy"][]) =>
      differences.filter(({ remedy }) => remedies.includes(remedy));
    return { applied: of("create", "alter"), accepted: of("accept"), left: of("decide") };
  });
}

/** Waits until the broker knows new topics: it denies them for a moment after the controller has made them. */
export async function untilKnown(admin: Admin, names: string[]): Promise<void> {
  for (const until = Date.now() + longestMs; ; await sleep(50)) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: names });
      if (topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

/** Waits until the broker shows settings that were altered, which it does a moment after the controller has them. */
async function untilAltered(admin: Admin, topics: readonly DeclaredTopic[], options: TopicOptions): Promise<void> {
  for (const until = Date.now() + longestMs; ; await sleep(50)) {
    const differences = await findDifferences(admin, topics, options);
    if (Date.now() > until || differences.every(({ remedy }) => remedy !== "alter")) return;
  }
}

interface Replicas {
  readonly factor: number;
  readonly minInSync: number;
}

async function replication(admin: Admin, options: TopicOptions): Promise<Replicas> {
  const { brokers } = await admin.describeCluster();
  const factor = options.replicationFactor ?? (brokers.length >= 3 ? 3 : 1);
  return { factor, minInSync: Math.min(options.minInSyncReplicas ?? (factor >= 3 ? 2 : 1), factor) };
}

/** With more in-sync replicas required than there are replicas, a topic accepts no fact. */
function withCopies(replicas: Replicas, shape: Shape | undefined): Replicas {
  return { ...replicas, minInSync: Math.min(replicas.minInSync, shape?.factor ?? replicas.factor) };
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
    // Consumer lag in time is measured by the broker's clock, not by the clocks of producers.
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
  const note = (
    what: string,
    wanted: string,
    found: string | undefined,
    how: Pick<TopicDifference, "remedy" | "advice"> = { remedy: "alter" },
  ) => {
    if (wanted !== found) differences.push({ topic: topic.name, what, wanted, found, ...how });
  };
  note("partitions", String(topic.partitions), String(shape.partitions), judgePartitions(topic, shape));
  note("replication factor", String(replicas.factor), String(shape.factor), {
    remedy: "decide",
    advice: replicaAdvice,
  });
  for (const [name, wanted] of Object.entries(settingsOf(topic, withCopies(replicas, shape))))
    note(name, wanted, shape.settings.get(name));
  return differences;
}

function judgePartitions(topic: DeclaredTopic, shape: Shape): Pick<TopicDifference, "remedy" | "advice"> {
  return shape.partitions < topic.partitions
    ? {
        remedy: "decide",
        advice:
          "with more partitions the next fact of a key would go to another partition than the earlier ones, and their order would be lost: " +
          "declare a new version of the topic, or recreate this one while nothing writes to it and everything was read",
      }
    : { remedy: "accept", advice: "more than declared do no harm if they were there before the first fact" };
}

const replicaAdvice = "replicas are moved with the brokers' own kafka-reassign-partitions";

/** The request replaces all settings of a topic, so it repeats those that are not declared. */
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
    return await kafkaClient(options).administer(longestMs, work);
  } catch (error) {
    throw fault(
      "bus_unavailable",
      `the topics could not be read or changed at ${options.brokers.join(", ")} (${kafkaErrorType(error) ?? "no answer"})`,
      { cause: error },
    );
  }
}
