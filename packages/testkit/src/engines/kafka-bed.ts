import { setTimeout as sleep } from "node:timers/promises";
import { kafkaClient } from "@tessera/engines/kafka/client";
import { untilKnown } from "@tessera/engines/kafka/topics";
import type { Bus, Delivery, Message } from "@tessera/kit/bus/bus";
import { createLog, type Log } from "@tessera/kit/telemetry/log";

export const quiet: Log = createLog({ service: "test", destination: { write: () => {} } });

/** Creates a topic on the brokers, by its name there. */
export async function createKafkaTopic(
  brokers: string,
  topic: string,
  { partitions = 4, settings = {} }: { partitions?: number; settings?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  await kafkaClient({ brokers: brokers.split(","), clientId: "test", log: quiet }).administer(30_000, async (admin) => {
    await admin.createTopics({
      topics: [{ topic, numPartitions: partitions, configEntries }],
      // kafkajs asks for the leaders too early, and does not ask again.
      waitForLeaders: false,
    });
    await untilKnown(admin, [topic]);
  });
}

export interface Collected {
  /** Everything that was delivered, in order. */
  readonly received: Delivery[];
  /** Everything that was delivered, each number once, in the order of its first delivery. */
  numbers(key?: string): number[];
}

/** Subscribes and keeps all deliveries. */
export async function collect(
  bus: Bus,
  options: {
    group: string;
    topic: string;
    act?: (messages: readonly Delivery[], signal: AbortSignal) => Promise<void>;
  },
): Promise<Collected> {
  const received: Delivery[] = [];
  await bus.subscribe({
    group: options.group,
    topic: options.topic,
    async deliver(messages, signal) {
      received.push(...messages);
      await options.act?.(messages, signal);
    },
  });
  const of = (key?: string) => received.filter((delivery) => key === undefined || delivery.key === key);
  return { received, numbers: (key) => [...new Set(of(key).map(numberOf))] };
}

export function numbered(key: string, number: number): Message {
  return { key, value: Buffer.from(String(number)), headers: {} };
}

export function numberOf({ value }: Message): number {
  return Number(value === null ? Number.NaN : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
}

/** Publishes as the relay does: repeats it until it succeeds. */
export async function publishUntilTaken(bus: Bus, topic: string, messages: readonly Message[]): Promise<void> {
  for (const until = Date.now() + 60_000; ; ) {
    try {
      return await bus.publish(topic, messages);
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(100);
    }
  }
}
