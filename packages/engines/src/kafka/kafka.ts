import type { Backlog, Bus } from "@tessera/kit/bus/bus";
import { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { type Admin, type KafkaAccess, kafkaClient, kafkaErrorType, topicMissing } from "./client.ts";
import { createOutage } from "./outage.ts";
import { createPublisher, type Publisher } from "./publisher.ts";
import { type Reader, startReader } from "./reader.ts";

export interface KafkaBusOptions extends KafkaAccess {
  /** The prefix of every topic and group on the broker: `staging.`. */
  readonly topicPrefix?: string;
  /** A process that crashes keeps its partitions for this time. */
  readonly sessionTimeoutMs?: number;
  readonly heartbeatIntervalMs?: number;
  /** A publication that takes longer fails, and the relay repeats it. */
  readonly publishTimeoutMs?: number;
}

/** The time for questions about partitions and backlogs. */
const askMs = 5000;

/** Partitions are never removed, and a missing marker would be noticed. */
const partitionsKnownMs = 30_000;

const longestCloseMs = 10_000;

/**
 * Makes the bus of many processes, on Kafka.
 *
 * A publication is a transaction of its topic's only publisher (see publisher.ts), acknowledged by all in-sync
 * replicas. Each topic has its own consumer group `<prefix><group>.<topic>`, so that a topic that is stuck, missing or
 * new to some processes does not disturb the others. A new group reads from the beginning.
 */
export function kafkaBus(options: KafkaBusOptions): Bus {
  const { log, topicPrefix = "", publishTimeoutMs = 20_000 } = options;
  const { sessionTimeoutMs = 10_000, heartbeatIntervalMs = 1000 } = options;
  const client = kafkaClient(options);
  const outage = createOutage(log);
  const publishers = new Map<string, Publisher>();
  const readers = new Map<string, Reader & { readonly group: string; readonly topic: string }>();
  const partitionCounts = new Map<string, { readonly count: number; readonly until: number }>();
  let closing: Promise<void> | undefined;

  const kafkaTopicOf = (topic: string) => `${topicPrefix}${topic}`;
  const groupIdOf = (group: string, topic: string) => `${topicPrefix}${group}.${topic}`;

  const publisherOf = (topic: string): Publisher => {
    if (closing !== undefined) throw closed();
    const publisher =
      publishers.get(topic) ??
      createPublisher({
        client,
        topic,
        kafkaTopic: kafkaTopicOf(topic),
        transactionalId: `${topicPrefix}relay/${topic}`,
        timeoutMs: publishTimeoutMs,
      });
    publishers.set(topic, publisher);
    return publisher;
  };

  async function backlogOf(admin: Admin, { group, topic }: { group: string; topic: string }): Promise<Backlog> {
    const [ends, [committed]] = await Promise.all([
      admin.fetchTopicOffsets(kafkaTopicOf(topic)),
      admin.fetchOffsets({ groupId: groupIdOf(group, topic), topics: [kafkaTopicOf(topic)] }),
    ]).catch((error: unknown) => {
      throw toFault(error, topic);
    });
    const accepted = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    const waiting = ends.map(({ partition, high, low }) =>
      Math.max(0, Number(high) - Math.max(Number(low), accepted.get(partition) ?? -1)),
    );
    return { group, topic, messages: waiting.reduce((sum, count) => sum + count, 0) };
  }

  return {
    claim: async (topic) => publisherOf(topic).claim(),
    async publish(topic, messages) {
      const publisher = publisherOf(topic);
      if (messages.length > 0) await publisher.publish(messages);
    },
    async subscribe(subscription) {
      const { group, topic } = subscription;
      if (closing !== undefined) throw closed();
      const groupId = groupIdOf(group, topic);
      if (readers.has(groupId)) throw new Error(`group ${group} reads ${topic} twice`);
      const reader = startReader({
        client,
        subscription,
        kafkaTopic: kafkaTopicOf(topic),
        groupId,
        sessionTimeoutMs,
        heartbeatIntervalMs,
        onReading: () => outage.works({ group, topic }),
        onOutage: (error) => outage.failed({ group, topic }, error),
        onRefusal: (error) => log.warn("a delivery was refused and is repeated", { group, topic, error }),
      });
      readers.set(groupId, { ...reader, group, topic });
    },
    async partitions(topic) {
      const known = partitionCounts.get(topic);
      if (known !== undefined && performance.now() < known.until) return known.count;
      const answer = await client
        .administer(askMs, (admin) => admin.fetchTopicMetadata({ topics: [kafkaTopicOf(topic)] }))
        .catch((error: unknown) => {
          throw toFault(error, topic);
        });
      const count = answer.topics[0]?.partitions.length ?? 0;
      partitionCounts.set(topic, { count, until: performance.now() + partitionsKnownMs });
      return count;
    },
    async backlog() {
      if (readers.size === 0) return [];
      const all = [...readers.values()];
      return client
        .administer(askMs, (admin) => Promise.all(all.map((reader) => backlogOf(admin, reader))))
        .catch((error: unknown) => {
          throw toFault(error);
        });
    },
    close() {
      closing ??= waitAtMost(
        longestCloseMs,
        Promise.all([...readers.values(), ...publishers.values()].map((part) => part.close())),
        () => new Error(`some parts were still busy after ${longestCloseMs} ms`),
      ).then(
        () => {},
        (error: unknown) => log.warn("the bus closed with work under way: it will be repeated", { error }),
      );
      return closing;
    },
  };
}

function toFault(error: unknown, topic?: string): Fault {
  if (error instanceof Fault) return error;
  return topic !== undefined && kafkaErrorType(error) === "UNKNOWN_TOPIC_OR_PARTITION"
    ? topicMissing(topic, error)
    : fault("bus_unavailable", "Kafka did not answer", { cause: error });
}

function closed(): Fault {
  return fault("bus_closed", "the bus is closing");
}
