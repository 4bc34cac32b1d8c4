import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus, Delivery, Message } from "@tessera/kit/bus/bus";
import { Fault } from "@tessera/kit/fault";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "./eventually.ts";

export interface BusUnderTest {
  readonly bus: Bus;
  /** Creates a topic, for a bus that does not create it by itself. */
  createTopic?(name: string): Promise<void>;
  /** Closes the bus and opens it again, like the next process. A bus within one process has none. */
  restart?(): Promise<Bus>;
  close(): Promise<void>;
}

/** A broker assigns partitions before the first message: that takes seconds. */
const timeout = 60_000;

/** Tests the promises of the port for any bus. */
export function busContract(name: string, makeBus: () => Promise<BusUnderTest>): void {
  describe(`the bus contract: ${name}`, { timeout }, () => {
    const made: BusUnderTest[] = [];

    afterEach(async () => {
      await Promise.all(made.splice(0).map((under) => under.close()));
    }, timeout);

    async function fresh(): Promise<{ bus: Bus; topic: string; under: BusUnderTest }> {
      const under = await makeBus();
      made.push(under);
      return { bus: under.bus, topic: await newTopic(under), under };
    }

    describe("order", () => {
      it("keeps the messages of a key in order, whatever the other keys do", async () => {
        const { bus, topic } = await fresh();
        const reader = await read(bus, { group: "a", topic, act: () => sleep(Math.random() * 3) });
        const keys = ["a", "b", "ü/🎟", "d d"];
        const batches = Array.from({ length: 30 }, (_, batch) =>
          Array.from({ length: 1 + (batch % 7) }, (_, index) =>
            numbered(keys[(batch + index) % keys.length] ?? "", 10 * batch + index),
          ),
        );
        for (const batch of batches) await bus.publish(topic, batch);
        await eventually(() => reader.distinct().length === batches.flat().length);
        for (const key of keys) expect(reader.numbers(key)).toEqual(reader.numbers(key).toSorted((a, b) => a - b));
      });

      it("keeps each batch in order among publishers that do not wait for each other", async () => {
        const { bus, topic } = await fresh();
        const reader = await read(bus, { group: "a", topic, act: () => sleep(Math.random() * 5) });
        const batches = Array.from({ length: 40 }, (_, batch) => [2 * batch, 2 * batch + 1]);
        await Promise.all(
          batches.map((batch) =>
            bus.publish(
              topic,
              batch.map((number) => numbered("k", number)),
            ),
          ),
        );
        await eventually(() => reader.distinct().length === 80);
        const place = new Map(reader.numbers("k").map((number, index) => [number, index]));
        for (const [first = 0, second = 0] of batches) expect(place.get(first)).toBeLessThan(place.get(second) ?? 0);
      });

      it("makes one delivery of a key to a group at a time", async () => {
        const { bus, topic } = await fresh();
        let underWay = 0;
        let most = 0;
        const reader = await read(bus, {
          group: "a",
          topic,
          async act() {
            underWay += 1;
            most = Math.max(most, underWay);
            await sleep(5);
            underWay -= 1;
          },
        });
        await Promise.all(Array.from({ length: 20 }, (_, number) => bus.publish(topic, [numbered("k", number)])));
        await eventually(() => reader.distinct().length === 20);
        expect(most).toBe(1);
      });
    });

    describe("delivery", () => {
      it("brings every message to every group", async () => {
        const { bus, topic } = await fresh();
        const readers = await Promise.all(["a", "b", "c"].map((group) => read(bus, { group, topic })));
        const sent = Array.from({ length: 2000 }, (_, number) => numbered(`key ${number % 97}`, number, 1000));
        for (let start = 0; start < sent.length; start += 500) await bus.publish(topic, sent.slice(start, start + 500));
        await eventually(() => readers.every((reader) => reader.distinct().length === sent.length));
        for (const reader of readers) {
          expect(reader.distinct().toSorted((a, b) => a - b)).toEqual(sent.map((_, number) => number));
        }
      });

      it("brings a topic's messages to its readers only", async () => {
        const { bus, topic, under } = await fresh();
        const other = await newTopic(under);
        const [first, second] = [await read(bus, { group: "a", topic }), await read(bus, { group: "a", topic: other })];
        await bus.publish(topic, [numbered("k", 1)]);
        await bus.publish(other, [numbered("k", 2)]);
        await eventually(() => first.distinct().length === 1 && second.distinct().length === 1);
        expect(first.received.map((delivery) => [delivery.topic, numberOf(delivery)])).toEqual([[topic, 1]]);
        expect(second.received.map((delivery) => [delivery.topic, numberOf(delivery)])).toEqual([[other, 2]]);
      });

      it("accepts messages without a reader, and an empty list", async () => {
        const { bus, topic } = await fresh();
        await bus.publish(topic, [numbered("k", 1)]);
        await bus.publish(topic, []);
        const reader = await read(bus, { group: "a", topic });
        await bus.publish(topic, []);
        await bus.publish(topic, [numbered("k", 2)]);
        await eventually(() => reader.distinct().includes(2));
        expect(reader.sizes).not.toContain(0);
      });

      it("delivers again what a group has not accepted, before later messages", async () => {
        const { bus, topic } = await fresh();
        let refusals = 0;
        const reader = await read(bus, {
          group: "a",
          topic,
          async act() {
            refusals += 1;
            if (refusals <= 2) throw new Error("not now");
          },
        });
        await publishUntilAccepted(bus, topic, [numbered("k", 1)]);
        await publishUntilAccepted(bus, topic, [numbered("k", 2)]);
        await eventually(() => reader.distinct().includes(2));
        await eventually(() => reader.accepted.map(numberOf).includes(2));
        expect(reader.received.map(numberOf).filter((number) => number === 1).length).toBeGreaterThanOrEqual(3);
        expect(reader.accepted.map(numberOf)[0]).toBe(1);
      });

      it("loses no accepted message, even when it closes at once", async () => {
        const { bus, topic, under } = await fresh();
        const reader = await read(bus, { group: "a", topic, act: () => sleep(2) });
        for (let number = 0; number < 50; number += 1) await bus.publish(topic, [numbered("k", number)]);
        const reopened = await under.restart?.();
        if (reopened === undefined) await bus.close();
        const later = reopened === undefined ? undefined : await read(reopened, { group: "a", topic });
        const arrived = () => new Set([...reader.accepted.map(numberOf), ...(later?.distinct() ?? [])]);
        await eventually(() => arrived().size === 50);
        expect([...arrived()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, number) => number));
      });
    });

    describe("groups", () => {
      it("do not wait for each other, and a slow one loses nothing", async () => {
        const { bus, topic } = await fresh();
        const release = Promise.withResolvers<void>();
        const fast = await read(bus, { group: "fast", topic });
        const slow = await read(bus, { group: "slow", topic, act: () => release.promise });
        const published = Array.from({ length: 10 }, (_, number) => bus.publish(topic, [numbered("k", number)]));
        await eventually(() => fast.distinct().length === 10);
        expect(slow.accepted).toEqual([]);
        release.resolve();
        await Promise.all(published);
        await eventually(() => slow.distinct().length === 10);
        expect(slow.numbers("k")).toEqual(fast.numbers("k"));
      });

      it("are not disturbed by one that accepts nothing", async () => {
        const { bus, topic } = await fresh();
        let sick = true;
        const well = await read(bus, { group: "well", topic });
        const ill = await read(bus, {
          group: "ill",
          topic,
          async act() {
            if (sick) throw new Error("ill");
          },
        });
        const publishing = publishUntilAccepted(bus, topic, [numbered("k", 1), numbered("k", 2)]);
        await eventually(() => well.distinct().length === 2);
        sick = false;
        await publishing;
        await eventually(() => ill.accepted.length >= 2);
        expect(ill.numbers("k")).toEqual([1, 2]);
      });

      it("read a topic once per process", async () => {
        const { bus, topic, under } = await fresh();
        const reader = await read(bus, { group: "a", topic });
        await expect(read(bus, { group: "a", topic })).rejects.toThrow(/a reads .* twice/);
        await read(bus, { group: "b", topic });
        await read(bus, { group: "a", topic: await newTopic(under) });
        await bus.publish(topic, [numbered("k", 1)]);
        await eventually(() => reader.distinct().length === 1);
      });
    });

    describe("messages", () => {
      it("arrive as they were sent: keys, values, headers, tombstones", async () => {
        const { bus, topic } = await fresh();
        const reader = await read(bus, { group: "a", topic });
        const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
        const sent: Message[] = [
          { key: "bytes", value: allBytes, headers: {} },
          { key: "empty is not gone", value: new Uint8Array(), headers: {} },
          { key: "gone", value: null, headers: { "fact-id": "1" } },
          { key: "", value: null, headers: { marker: randomUUID() } },
          {
            key: "Zoë/🎟/%00 \n",
            value: Buffer.from("ü"),
            headers: { a: "", "b-c": "Größe 🎟 \n;=,", long: "x".repeat(5000) },
          },
          { key: "large", value: new Uint8Array(300_000).fill(7), headers: {} },
        ];
        for (const message of sent) await bus.publish(topic, [message]);
        await eventually(() => reader.received.length >= sent.length);
        const received = new Map(reader.received.map((delivery) => [delivery.key, delivery]));
        for (const { key, value, headers } of sent) {
          const delivery = received.get(key);
          expect(delivery).toMatchObject({ topic, key });
          expect(delivery?.headers).toEqual(headers);
          expect(delivery?.value === null).toBe(value === null);
          expect(Buffer.from(delivery?.value ?? []).equals(Buffer.from(value ?? []))).toBe(true);
        }
      });

      it("of one key stay in one partition, and those that name a partition go there", async () => {
        const { bus, topic } = await fresh();
        const reader = await read(bus, { group: "a", topic });
        const count = await bus.partitions(topic);
        expect(count).toBeGreaterThanOrEqual(1);
        const keyed = Array.from({ length: 60 }, (_, number) => numbered(`key ${number % 20}`, number));
        const placed = Array.from({ length: count }, (_, partition) => ({
          ...numbered("", 100 + partition),
          partition,
        }));
        await bus.publish(topic, [...keyed, ...placed]);
        await eventually(() => reader.distinct().length === 60 + count);
        const partitionsOf = (key: string) =>
          new Set(reader.received.filter((delivery) => delivery.key === key).map(({ partition }) => partition));
        for (let key = 0; key < 20; key += 1) expect(partitionsOf(`key ${key}`).size).toBe(1);
        const markers = reader.received.filter((delivery) => delivery.key === "");
        for (const marker of markers) expect(marker.partition).toBe(numberOf(marker) - 100);
        expect(reader.received.every(({ partition }) => partition >= 0 && partition < count)).toBe(true);
      });

      it("come after those of their partition that were published before", async () => {
        const { bus, topic } = await fresh();
        const reader = await read(bus, { group: "a", topic });
        const count = await bus.partitions(topic);
        const before = Array.from({ length: 40 }, (_, number) => numbered(`key ${number}`, number));
        await bus.publish(topic, before);
        await bus.publish(
          topic,
          Array.from({ length: count }, (_, partition) => ({ ...numbered("", 1000 + partition), partition })),
        );
        await eventually(() => reader.distinct().length === 40 + count);
        for (const [index, marker] of reader.received.entries()) {
          if (marker.key !== "") continue;
          const late = reader
            .firsts()
            .slice(index)
            .filter(({ key, partition }) => key !== "" && partition === marker.partition);
          expect(late).toEqual([]);
        }
      });
    });

    describe("close", () => {
      it("aborts the signal of running deliveries, waits for them, and starts none afterwards", async () => {
        const { bus, topic } = await fresh();
        const begun = Promise.withResolvers<void>();
        const events: string[] = [];
        const reader = await read(bus, {
          group: "a",
          topic,
          async act(signal) {
            begun.resolve();
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
            events.push("told");
            await sleep(50);
            events.push("ended");
          },
        });
        const publishing = [1, 2, 3].map((number) => bus.publish(topic, [numbered("k", number)]).catch(() => {}));
        await begun.promise;
        await bus.close();
        events.push("closed");
        const deliveries = reader.sizes.length;
        await Promise.all(publishing);
        await sleep(50);
        expect(events).toEqual(["told", "ended", "closed"]);
        expect(reader.sizes.length).toBe(deliveries);
      });

      it("refuses later publications and subscriptions as unavailable", async () => {
        const { bus, topic } = await fresh();
        await read(bus, { group: "a", topic });
        await bus.close();
        const attempts = [bus.publish(topic, [numbered("k", 1)]), read(bus, { group: "b", topic })];
        for (const outcome of await Promise.allSettled(attempts)) {
          const reason: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
          expect(reason).toBeInstanceOf(Fault);
          expect(reason).toMatchObject({ kind: "unavailable" });
        }
      });

      it("may be called twice", async () => {
        const { bus, topic } = await fresh();
        await read(bus, { group: "a", topic });
        await Promise.all([bus.close(), bus.close()]);
        await expect(bus.close()).resolves.toBeUndefined();
      });
    });
  });
}

async function newTopic(under: BusUnderTest): Promise<string> {
  const topic = `contract.${randomUUID()}.v1`;
  await under.createTopic?.(topic);
  return topic;
}

function numbered(key: string, number: number, size = 0): Message {
  return { key, value: Buffer.alloc(size), headers: { number: String(number) } };
}

function numberOf(delivery: Delivery): number {
  return Number(delivery.headers["number"]);
}

interface Reader {
  /** All deliveries, also those that were not accepted. */
  readonly received: Delivery[];
  readonly accepted: Delivery[];
  /** The number of messages of each delivery. */
  readonly sizes: number[];
  /** All messages, each once. */
  firsts(): Delivery[];
  distinct(): number[];
  /** The numbers of one key in the order of their first delivery. */
  numbers(key: string): number[];
}

async function read(
  bus: Bus,
  { group, topic, act }: { group: string; topic: string; act?: (signal: AbortSignal) => Promise<void> },
): Promise<Reader> {
  const [received, accepted, sizes]: [Delivery[], Delivery[], number[]] = [[], [], []];
  await bus.subscribe({
    group,
    topic,
    async deliver(messages, signal) {
      sizes.push(messages.length);
      received.push(...messages);
      await act?.(signal);
      accepted.push(...messages);
    },
  });
  const firsts = () =>
    [...new Map(received.toReversed().map((delivery) => [numberOf(delivery), delivery])).values()].reverse();
  return {
    received,
    accepted,
    sizes,
    firsts,
    distinct: () => firsts().map(numberOf),
    numbers: (key) =>
      firsts()
        .filter((delivery) => delivery.key === key)
        .map(numberOf),
  };
}

/** Publishes as the relay does: repeats it until it succeeds. */
async function publishUntilAccepted(bus: Bus, topic: string, messages: readonly Message[]): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await bus.publish(topic, messages);
      return;
    } catch (error) {
      if (tried === 200) throw error;
      await sleep(20);
    }
  }
}
