import { setTimeout as sleep } from "node:timers/promises";
import type { Message } from "@tessera/kit/bus/bus";
import { busContract } from "@tessera/testkit/bus-contract";
import { describe, expect, it } from "vitest";
import { memoryBus } from "./memory-bus.ts";

busContract("memory", async () => {
  const bus = memoryBus([]);
  return { bus, close: () => bus.close() };
});

const message: Message = { key: "k", value: null, headers: {} };

describe("memoryBus", () => {
  it("answers a publisher when every group has delivered, and not before", async () => {
    const bus = memoryBus([]);
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const [index, gate] of gates.entries()) {
      await bus.subscribe({ group: `g${index}`, topic: "t", deliver: () => gate.promise });
    }
    let answered = false;
    const publishing = bus.publish("t", [message]).then(() => {
      answered = true;
    });
    for (const gate of gates) {
      await sleep(10);
      expect(answered).toBe(false);
      gate.resolve();
    }
    await publishing;
    await bus.close();
  });

  it("refuses when one group could not deliver, after the others have", async () => {
    const bus = memoryBus([]);
    const gate = Promise.withResolvers<void>();
    const delivered: string[] = [];
    await bus.subscribe({ group: "bad", topic: "t", deliver: () => Promise.reject(new Error("a bug")) });
    await bus.subscribe({
      group: "good",
      topic: "t",
      async deliver() {
        await gate.promise;
        delivered.push("good");
      },
    });
    const refused = bus.publish("t", [message]).catch((error: unknown) => [String(error), ...delivered]);
    await sleep(10);
    gate.resolve();
    expect(await refused).toEqual(["Error: a bug", "good"]);
    await bus.close();
  });

  it("answers a publisher whose messages all groups delivered while it closed", async () => {
    const bus = memoryBus([]);
    const gate = Promise.withResolvers<void>();
    await bus.subscribe({ group: "a", topic: "t", deliver: () => gate.promise });
    const publishing = bus.publish("t", [message]);
    await sleep(5);
    const closing = bus.close();
    gate.resolve();
    await closing;
    await expect(publishing).resolves.toBeUndefined();
  });

  it("refuses what was still waiting for its turn when it closed", async () => {
    const bus = memoryBus([]);
    let deliveries = 0;
    await bus.subscribe({
      group: "a",
      topic: "t",
      async deliver(_messages, signal) {
        deliveries += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        signal.throwIfAborted();
      },
    });
    const outcomes = Promise.allSettled([bus.publish("t", [message]), bus.publish("t", [message])]);
    await sleep(5);
    await bus.close();
    const refused = { status: "rejected", reason: { kind: "unavailable", code: "bus_closed" } };
    expect(await outcomes).toMatchObject([refused, refused]);
    expect(deliveries).toBe(1);
  });

  it("delivers in the order in which publishers came, though they do not wait for each other", async () => {
    const bus = memoryBus([]);
    const received: string[] = [];
    await bus.subscribe({
      group: "a",
      topic: "t",
      async deliver(messages) {
        await sleep(Math.random() * 3);
        received.push(...messages.map(({ key }) => key));
      },
    });
    const keys = Array.from({ length: 50 }, (_, index) => String(index));
    await Promise.all(keys.map((key) => bus.publish("t", [{ ...message, key }])));
    expect(received).toEqual(keys);
    await bus.close();
  });

  it("lets publications to different partitions pass each other, and those to one wait", async () => {
    const bus = memoryBus([]);
    const gate = Promise.withResolvers<void>();
    const received: string[] = [];
    await bus.subscribe({
      group: "a",
      topic: "t",
      async deliver(messages) {
        if (messages.some(({ key }) => key === "slow")) await gate.promise;
        received.push(...messages.map(({ key, partition }) => `${key} ${partition}`));
      },
    });
    const slow = bus.publish("t", [{ ...message, key: "slow", partition: 1 }]);
    const behind = bus.publish("t", [{ ...message, key: "behind", partition: 1 }]);
    await bus.publish("t", [{ ...message, key: "beside", partition: 2 }]);
    expect(received).toEqual(["beside 2"]);
    gate.resolve();
    await Promise.all([slow, behind]);
    expect(received).toEqual(["beside 2", "slow 1", "behind 1"]);
    await bus.close();
  });

  it("holds a topic's messages until all its readers are there, and then in order", async () => {
    const bus = memoryBus([
      { group: "a", topic: "t" },
      { group: "b", topic: "t" },
      { group: "a", topic: "other" },
    ]);
    const received: string[] = [];
    const subscribe = (group: string, topic: string) =>
      bus.subscribe({
        group,
        topic,
        async deliver(messages) {
          received.push(...messages.map(({ key }) => `${group} ${key}`));
        },
      });
    const early = [1, 2, 3].map((number) => bus.publish("t", [{ ...message, key: String(number) }]));
    await subscribe("a", "t");
    await sleep(10);
    expect(received).toEqual([]);
    await subscribe("b", "t");
    await Promise.all([...early, bus.publish("t", [{ ...message, key: "4" }])]);
    for (const group of ["a", "b"]) {
      expect(received.filter((line) => line.startsWith(group))).toEqual([1, 2, 3, 4].map((key) => `${group} ${key}`));
    }
    await bus.publish("nobody's", [message]);
    await bus.close();
  });

  it("lets go of those who wait for readers when it closes", async () => {
    const bus = memoryBus([{ group: "a", topic: "t" }]);
    const waiting = Promise.allSettled([bus.publish("t", [message])]);
    await bus.close();
    expect(await waiting).toMatchObject([{ status: "rejected", reason: { code: "bus_closed" } }]);
  });
});
