import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "@tessera/kit/backoff";
import type { Subscription } from "@tessera/kit/bus/bus";
import { pause } from "@tessera/kit/pause";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { type CommitOffset, commitTogether } from "./commit-together.ts";
import { type Consumer, type EachBatchPayload, type KafkaClient, kafkaSettings } from "./kafka-client.ts";
import { createLane, type Lane } from "./kafka-lane.ts";
import { fromKafka } from "./kafka-messages.ts";

export interface ReaderOptions {
  readonly client: KafkaClient;
  readonly subscription: Subscription;
  /** As the broker calls them. */
  readonly kafkaTopic: string;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  onReading(): void;
  /** The reader goes on trying. */
  onOutage(error: unknown): void;
  /** A delivery was refused, and not because of closing; it is repeated. */
  onRefusal(error: unknown): void;
}

export interface Reader {
  close(): Promise<void>;
}

/** A partition whose delivery takes longer is paused, so that the others of the topic are fetched meanwhile. */
const patienceMs = 200;

const pauses = { firstMs: 100, longestMs: 5000 };

/** A consumer that lived this long was well; its successor starts without delay. */
const steadyMs = 10_000;

/** To leave the group; without that its other members wait for the session to expire. */
const leaveMs = 3000;

/**
 * Reads one topic for one group until it is closed, whatever happens to brokers, group and topic meanwhile.
 *
 * Fetching and delivering are apart: the consumer hands what it fetched to its partition's lane and goes on, which also
 * keeps its heartbeats going however long a delivery takes. Its position moves only behind what was accepted, and until
 * then the partition is paused; so whatever a rebalance or a fresh consumer makes of the position, nothing is skipped. A
 * consumer that crashes or falls silent is replaced by a new one.
 */
export function startReader(options: ReaderOptions): Reader {
  const { client, subscription, kafkaTopic, groupId, sessionTimeoutMs, heartbeatIntervalMs } = options;
  const closing = new AbortController();
  const lanes = new Map<number, Lane>();
  /** By the consumer that reads now: what another had accepted, its successor may not know the topic of any more. */
  let commit: CommitOffset = async () => {};

  const laneOf = (partition: number): Lane => {
    const lane =
      lanes.get(partition) ??
      createLane({
        deliver: (deliveries, signal) => subscription.deliver(deliveries, signal),
        commit: (offset) => commit(partition, offset),
        onRefusal: options.onRefusal,
        closing: closing.signal,
      });
    lanes.set(partition, lane);
    return lane;
  };

  async function hand({ batch, resolveOffset, pause: pauseFetching }: EachBatchPayload): Promise<void> {
    const { partition, messages } = batch;
    const last = messages.at(-1);
    if (last === undefined) return;
    const deliveries = messages.map((message) => fromKafka(message, { topic: subscription.topic, partition }));
    const next = String(BigInt(batch.lastOffset()) + 1n);
    const accepting = laneOf(partition)
      .add({ deliveries, next })
      .then((accepted) => {
        if (accepted) resolveOffset(last.offset);
      })
      // The group has met since and given the topic to others: the position is no longer ours to move.
      .catch(() => {});
    const inTime = await Promise.race([accepting.then(() => true), sleep(patienceMs, false)]);
    if (!inTime) void accepting.then(pauseFetching());
  }

  /** Reads until this consumer is of no further use, and throws why. */
  async function readOnce(): Promise<never> {
    const current = client.consumer({ groupId, sessionTimeoutMs, heartbeatIntervalMs });
    // What is not committed comes again, and was recorded in the inbox.
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
      // Longer than anything in a group's life takes.
      const silentMs = performance.now() - lastSign;
      if (silentMs > 3 * sessionTimeoutMs + kafkaSettings.requestTimeoutMs) end.reject(new Error("it fell silent"));
    }, 1000);
    current.on(current.events.HEARTBEAT, () => {
      lastSign = performance.now();
      // Joining alone tells little: a broker that has just come back answers for the group before it lets us fetch.
      options.onReading();
    });
    current.on(current.events.GROUP_JOIN, () => {
      lastSign = performance.now();
      for (const lane of lanes.values()) lane.reset();
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
          return hand(payload);
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
      for (const lane of closing.signal.aborted ? [] : lanes.values()) lane.reset();
      // While it is still a member, so that what is accepted is also committed.
      if (closing.signal.aborted) await Promise.all([...lanes.values()].map((lane) => lane.idle()));
      await disconnect(current);
      // It may have been about to join.
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
        // Once is no outage: a broker was replaced, or a coordinator was loading its groups.
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
