import { setMaxListeners } from "node:events";
import type { Bus, Delivery, Message, Subscription } from "@tessera/kit/bus/bus";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";

interface Reading {
  readonly subscription: Subscription;
  /** By partition: resolves when all messages so far are delivered; never rejects. */
  readonly tails: Map<number, Promise<void>>;
  /** Undelivered messages (the consumer lag). */
  waiting: number;
}

/** Facts in different lanes, by the hash of their keys, do not wait for each other, but share transactions. */
const lanes = 8;

/**
 * Makes the bus of a single process. It stores nothing: `publish` resolves only when every group of this process has
 * committed or dead-lettered the messages. Until then the rows stay in the outbox, so `kill -9` loses nothing.
 *
 * The `readers` subscribe some time after the first relay has started. Publications to a topic wait until all of its
 * readers have subscribed.
 */
export function memoryBus(readers: readonly Pick<Subscription, "group" | "topic">[]): Bus {
  const readings = new Map<string, Reading[]>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const closing = new AbortController();
  // Each waiting delivery listens to it.
  setMaxListeners(0, closing.signal);

  const isComplete = (topic: string) => {
    const groups = (readings.get(topic) ?? []).map(({ subscription }) => subscription.group);
    return readers.every((reader) => reader.topic !== topic || groups.includes(reader.group));
  };

  /** Resolves when all readers of a topic have subscribed; its publishers continue in the order of their calls. */
  const gateOf = (topic: string) => {
    let gate = gates.get(topic);
    if (gate === undefined) {
      gate = Promise.withResolvers();
      gates.set(topic, gate);
      if (isComplete(topic)) gate.resolve();
    }
    return gate;
  };

  const hand = (reading: Reading, partition: number, deliveries: readonly Delivery[]) => {
    reading.waiting += deliveries.length;
    // Publishers are serialized per partition of a group, which keeps the order of each key.
    const turn = (reading.tails.get(partition) ?? Promise.resolve()).then(() => {
      if (closing.signal.aborted) throw closed();
      return reading.subscription.deliver(deliveries, closing.signal);
    });
    const tail = turn
      .catch(() => {})
      .finally(() => {
        reading.waiting -= deliveries.length;
      });
    reading.tails.set(partition, tail);
    return turn;
  };

  return {
    lanes,
    async publish(topic, messages) {
      if (closing.signal.aborted) throw closed();
      await gateOf(topic).promise;
      if (messages.length === 0) return;
      const deliveries = Map.groupBy(
        messages.map((message) => toDelivery(topic, message)),
        ({ partition }) => partition,
      );
      // Not Promise.all: when this rejects and the caller publishes again, no earlier delivery may still be running.
      const outcomes = await Promise.allSettled(
        (readings.get(topic) ?? []).flatMap((reading) =>
          Array.from(deliveries, ([partition, ofPartition]) => hand(reading, partition, ofPartition)),
        ),
      );
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw closing.signal.aborted ? closed() : failure.reason;
    },
    async subscribe(subscription) {
      const { topic, group } = subscription;
      if (closing.signal.aborted) throw closed();
      const present = readings.get(topic) ?? [];
      if (present.some((reading) => reading.subscription.group === group)) {
        throw new Error(`group ${group} reads ${topic} twice`);
      }
      readings.set(topic, [...present, { subscription, tails: new Map(), waiting: 0 }]);
      if (isComplete(topic)) gateOf(topic).resolve();
    },
    partitions: async () => lanes,
    backlog: async () =>
      [...readings.values()]
        .flat()
        .map(({ subscription: { group, topic }, waiting }) => ({ group, topic, messages: waiting })),
    async close() {
      closing.abort();
      for (const gate of gates.values()) {
        gate.promise.catch(() => {});
        gate.reject(closed());
      }
      await Promise.all([...readings.values()].flat().flatMap((reading) => [...reading.tails.values()]));
    },
  };
}

function toDelivery(topic: string, message: Message): Delivery {
  return { ...message, topic, partition: message.partition ?? 0 };
}

function closed(): Fault {
  return fault("bus_closed", "the bus is closing");
}
