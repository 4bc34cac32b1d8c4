import { Fault } from "../fault.ts";
import type { Bus, Delivery, Message, Subscription } from "./bus.ts";

/**
 * The bus of a single process. It stores nothing: `publish` resolves only when
 * every group of this process has committed or dead-lettered, so the rows stay
 * in the outbox until then and `kill -9` loses nothing.
 */
export function memoryBus(): Bus {
  const subscriptions = new Map<string, { subscription: Subscription; tail: Promise<void> }[]>();
  const closing = new AbortController();

  return {
    async publish(topic, messages) {
      if (closing.signal.aborted) throw closed();
      const deliveries = messages.map((message) => toDelivery(topic, message));
      await Promise.all(
        (subscriptions.get(topic) ?? []).map((entry) => {
          // Publishers take turns per group, so one key never overtakes itself.
          const turn = entry.tail.then(() => entry.subscription.deliver(deliveries, closing.signal));
          entry.tail = turn.catch(() => {});
          return turn;
        }),
      );
      if (closing.signal.aborted) throw closed();
    },
    async subscribe(subscription) {
      const entries = subscriptions.get(subscription.topic) ?? [];
      if (entries.some((entry) => entry.subscription.group === subscription.group)) {
        throw new Error(`group ${subscription.group} reads ${subscription.topic} twice`);
      }
      subscriptions.set(subscription.topic, [...entries, { subscription, tail: Promise.resolve() }]);
    },
    partitions: async () => 1,
    async close() {
      closing.abort();
      await Promise.allSettled([...subscriptions.values()].flat().map((entry) => entry.tail));
    },
  };
}

function toDelivery(topic: string, message: Message): Delivery {
  return { ...message, topic, partition: message.partition ?? 0 };
}

function closed(): Fault {
  return new Fault("unavailable", "bus_closed", "the bus is closing");
}
