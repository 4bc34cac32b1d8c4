import { setTimeout as sleep } from "node:timers/promises";
import type { Subscription } from "@tessera/kit/bus/bus";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { type Consumer, type EachBatchPayload, type KafkaClient, kafkaSettings } from "./client.ts";
import { type CommitOffset, commitTogether } from "./commit-together.ts";
import { fromKafka } from "./messages.ts";
import { createPartitionQueue, type PartitionQueue } from "./partition-queue.ts";

export interface ReaderOptions {
  readonly client: KafkaClient;
  readonly subscription: Subscription;
  /** The names on the broker. */
  readonly kafkaTopic: string;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  onReading(): void;
  /** The reader retries. */
  onOutage(error: unknown): void;
  /** A delivery failed while the bus is open; it is repeated. */
  onRefusal(error: unknown): void;
}

export interface Reader {
  close(): Promise<void>;
}

/** When a delivery takes longer, its partition is paused, so that the other partitions are fetched. */
const pausedAfterMs = 200;

const pauses = { firstMs: 100, longestMs: 5000 };

/** After a consumer ran this long, the backoff starts over. */
const steadyMs = 10_000;

/** The time to leave the group. Without leaving, other members wait until the session expires. */
const leaveMs = 3000;

/**
 * Reads one topic for one group until it is closed, and survives all failures of brokers, group and topic.
 *
 * Fetching is separate from delivering: the consumer gives messages to the queue of their partition and continues, so
 * its heartbeats go on during a long delivery. Its position moves only over accepted messages, and until then the
 * partition is paused. So neither a rebalance nor a new consumer skips a message. A consumer that crashes, or sends no
 * heartbeat, is replaced.
 */
export function startReader(options: ReaderOptions): Reader {
  const { client, subscription, kafkaTopic, groupId, sessionTimeoutMs, heartbeatIntervalMs } = options;
  const closing = new AbortController();
  const queues = new Map<number, PartitionQueue>();
  /** Commits with the current consumer: a former consumer has left the group. */
  let commit: CommitOffset = async () => {};

  const queueOf = (partition: number): PartitionQueue => {
    const queue =
      queues.get(partition) ??
      createPartitionQueue({
        deliver: (deliveries, signal) => subscription.deliver(deliveries, signal),
        commit: (offset) => commit(partition, offset),
        onRefusal: options.onRefusal,
        closing: closing.signal,
      });
    queues.set(partition, queue);
    return queue;
  };

  async function deliver({ batch, resolveOffset, pause: pauseFetching }: EachBatchPayload): Promise<void> {
    const { partition, messages } = batch;
    const last = messages.at(-1);
    if (last === undefined) return;
    const deliveries = messages.map((message) => fromKafka(message, { topic: subscription.topic, partition }));
    const next = String(BigInt(batch.lastOffset()) + 1n);
    const accepting = queueOf(partition)
      .add({ deliveries, next })
      .then((accepted) => {
        if (accepted) resolveOffset(last.offset);
      })
      // A rebalance has moved the partition to another process: its position is not changed here.
      .catch(() => {});
    const inTime = await Promise.race([accepting.then(() => true), sleep(pausedAfterMs, false)]);
    if (!inTime) void accepting.then(pauseFetching());
  }

  /** Reads until this consumer fails or is closed, and throws the reason. */
  async function readOnce(): Promise<never> {
    const current = client.consumer({ groupId, sessionTimeoutMs, heartbeatIntervalMs });
    // Uncommitted messages are delivered again; the inbox knows them.
    commit = commitTogether((offsets) =>
      current.commitOffsets(offsets.map((place) => ({ topic: kafkaTopic, ...place }))),
    );
    const over = new AbortController();
    const end = Promise.withResolvers<never>();
    end.promise.catch(() => {});
    const onClose = () => end.reject(new Error("the bus is closing"));
    closing.signal.addEventListener("abort", onClose);
    let lastSign = performance.now();
    const watch = setInterval(() => {
      // Longer than any normal operation of a group.
      const silentMs = performance.now() - lastSign;
      if (silentMs > 3 * sessionTimeoutMs + kafkaSettings.requestTimeoutMs)
        end.reject(new Error("it sends no heartbeats"));
    }, 1000);
    current.on(current.events.HEARTBEAT, () => {
      lastSign = performance.now();
      // A heartbeat, not the join: a restarting broker accepts joins before fetches.
      options.onReading();
    });
    current.on(current.events.GROUP_JOIN, () => {
      lastSign = performance.now();
      for (const queue of queues.values()) queue.reset();
    });
    current.on(current.events.CRASH, ({ payload }) => end.reject(payload.error));
    const start = async () => {
      await current.connect();
      over.signal.throwIfAborted();
      await current.subscribe({ topic: kafkaTopic, fromBeginning: true });
      over.signal.throwIfAborted();
      await current.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: kafkaSettings.partitionsAtOnce,
        eachBatch(payload) {
          over.signal.throwIfAborted();
          return deliver(payload);
        },
      });
    };
    const starting = start();
    try {
      await Promise.race([starting, end.promise]);
      return await end.promise;
    } finally {
      clearInterval(watch);
      closing.signal.removeEventListener("abort", onClose);
      over.abort();
      for (const queue of closing.signal.aborted ? [] : queues.values()) queue.reset();
      // Before it leaves the group, so that accepted messages can be committed.
      if (closing.signal.aborted) await Promise.all([...queues.values()].map((queue) => queue.idle()));
      await disconnect(current);
      // It may have been joining in between.
      const disconnectAgain = () => disconnect(current);
      void starting.then(disconnectAgain, disconnectAgain);
    }
  }

  async function run(): Promise<void> {
    for (let failed = 0; !closing.signal.aborted; ) {
      const started = performance.now();
      try {
        await readOnce();
      } catch (error) {
        if (closing.signal.aborted) return;
        failed = performance.now() - started > steadyMs ? 1 : failed + 1;
        // A single failure is no outage: a broker may be replaced, or a coordinator may be loading its groups.
        if (failed > 1) options.onOutage(error);
        await pause(backoff(pauses, failed), closing.signal);
      }
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

async function disconnect(consumer: Consumer): Promise<void> {
  await waitAtMost(leaveMs, consumer.disconnect(), () => new Error("it does not leave")).catch(() => {});
}
