import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "@tessera/kit/bus/bus";
import { busContract } from "@tessera/testkit/bus-contract";
import {
  collect,
  createKafkaTopic,
  numbered,
  numberOf,
  publishUntilTaken,
  quiet,
} from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { eventually } from "@tessera/testkit/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { kafkaClient } from "./client.ts";
import { kafkaBus } from "./kafka.ts";

const brokers = kafkaOfThisRun();
const client = kafkaClient({ brokers: brokers.split(","), clientId: "test", log: quiet });

const warned: string[] = [];
process.on("warning", ({ name }) => warned.push(name));

const opened: Bus[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

/** Sessions expire after two seconds, so that tests need not wait for ten. */
function open(topicPrefix: string): Bus {
  const bus = kafkaBus({
    brokers: brokers.split(","),
    clientId: "test",
    topicPrefix,
    sessionTimeoutMs: 2000,
    heartbeatIntervalMs: 300,
    log: quiet,
  });
  opened.push(bus);
  return bus;
}

async function fresh(options: { partitions?: number; settings?: Record<string, string> } = {}) {
  const prefix = `${randomUUID()}.`;
  await createKafkaTopic(brokers, `${prefix}t`, options);
  return { prefix, topic: "t", bus: open(prefix) };
}

async function keysByPartition(bus: Bus, topic: string): Promise<string[]> {
  const probe = await collect(bus, { group: "probe", topic });
  const candidates = Array.from({ length: 64 }, (_, index) => `key ${index}`);
  await bus.publish(
    topic,
    candidates.map((key) => numbered(key, 0)),
  );
  await eventually(() => probe.received.length >= candidates.length);
  const found = new Map(probe.received.map(({ partition, key }) => [partition, key]));
  return [...found].sort(([a], [b]) => a - b).map(([, key]) => key);
}

busContract("Kafka", async () => {
  const prefix = `${randomUUID()}.`;
  const buses = [open(prefix)];
  return {
    bus: buses[0] as Bus,
    createTopic: (name) => createKafkaTopic(brokers, prefix + name),
    async restart() {
      await buses.at(-1)?.close();
      buses.push(open(prefix));
      return buses.at(-1) as Bus;
    },
    async close() {
      await Promise.all(buses.map((bus) => bus.close()));
    },
  };
});

describe("publishing", () => {
  it("is refused to a process that has lost the topic to another process, and leaves nothing behind", async () => {
    const { prefix, topic, bus: former } = await fresh();
    const leader = open(prefix);
    await former.publish(topic, [numbered("k", 1)]);
    await leader.claim?.(topic);
    await expect(former.publish(topic, [numbered("k", 2)])).rejects.toMatchObject({
      kind: "unavailable",
      code: "bus_fenced",
    });
    await leader.publish(topic, [numbered("k", 3)]);
    const reader = await collect(leader, { group: "g", topic });
    await eventually(() => reader.numbers().includes(3));
    expect(reader.numbers()).toEqual([1, 3]);
    await former.claim?.(topic);
    await former.publish(topic, [numbered("k", 4)]);
    await expect(leader.publish(topic, [numbered("k", 5)])).rejects.toMatchObject({ code: "bus_fenced" });
    await eventually(() => reader.numbers().includes(4));
    expect(reader.numbers()).toEqual([1, 3, 4]);
  });

  it("that was under way when another process took over can neither be seen nor committed", async () => {
    const { prefix, topic, bus: leader } = await fresh();
    const { producer } = client.producer(`${prefix}relay/${topic}/0`);
    await producer.connect();
    const cut = await producer.transaction();
    await cut.send({ topic: prefix + topic, messages: [{ key: "k", value: "1" }] });
    const reader = await collect(leader, { group: "g", topic });
    await leader.publish(topic, [numbered("k", 2)]);
    await expect(cut.send({ topic: prefix + topic, messages: [{ key: "k", value: "1" }] })).rejects.toThrow(
      "old epoch",
    );
    await expect(cut.commit()).rejects.toThrow("old epoch");
    await leader.publish(topic, [numbered("k", 3)]);
    await eventually(() => reader.numbers().includes(3));
    expect(reader.numbers()).toEqual([2, 3]);
    await producer.disconnect();
  });

  it("cuts what is too much for one request, in order, and refuses what is too large for any", async () => {
    const { topic, bus } = await fresh({ partitions: 2 });
    const reader = await collect(bus, { group: "g", topic });
    const large = Array.from({ length: 40 }, (_, index) => ({
      ...numbered("k", index),
      headers: { filling: "x".repeat(100_000) },
    }));
    await bus.publish(topic, large);
    await eventually(() => reader.numbers().length === large.length);
    expect(reader.received.map(numberOf)).toEqual(large.map((_, index) => index));
    const huge = { ...numbered("k", 0), value: crypto.getRandomValues(Buffer.alloc(65_536)) };
    const tooLarge = {
      ...huge,
      value: Buffer.concat(Array.from({ length: 40 }, () => crypto.getRandomValues(Buffer.alloc(65_536)))),
    };
    await expect(bus.publish(topic, [tooLarge])).rejects.toMatchObject({ kind: "unmet", code: "message_too_large" });
    await bus.publish(topic, [numbered("k", 100)]);
    await eventually(() => reader.numbers().includes(100));
  });

  it("to a topic that is missing says how to create it, and works as soon as it is there", async () => {
    const prefix = `${randomUUID()}.`;
    const bus = open(prefix);
    const reader = await collect(bus, { group: "g", topic: "late" });
    const missing = { kind: "unmet", code: "topic_missing", message: expect.stringContaining("tessera topics apply") };
    await expect(bus.publish("late", [numbered("k", 1)])).rejects.toMatchObject(missing);
    await expect(bus.partitions("late")).rejects.toMatchObject(missing);
    await createKafkaTopic(brokers, `${prefix}late`, { partitions: 3 });
    await bus.publish("late", [numbered("k", 2)]);
    await eventually(() => reader.numbers().includes(2));
    expect(await bus.partitions("late")).toBe(3);
  });

  it("refuses a partition that does not exist instead of dropping the message", async () => {
    const { topic, bus } = await fresh({ partitions: 2 });
    await expect(bus.publish(topic, [{ ...numbered("k", 1), partition: 7 }])).rejects.toMatchObject({
      kind: "unavailable",
    });
  });
});

describe("reading", () => {
  it("keeps its place in the group while a delivery takes longer than a session", async () => {
    const { topic, bus } = await fresh({ partitions: 1 });
    let deliveries = 0;
    let told = false;
    const reader = await collect(bus, {
      group: "g",
      topic,
      async act(_messages, signal) {
        deliveries += 1;
        if (deliveries === 1) await sleep(6000);
        told ||= signal.aborted;
      },
    });
    await bus.publish(topic, [numbered("k", 1)]);
    await eventually(() => deliveries === 1);
    await bus.publish(topic, [numbered("k", 2)]);
    await eventually(() => reader.numbers().includes(2));
    expect(told).toBe(false);
    expect(reader.received.map(numberOf)).toEqual([1, 2]);
  });

  it("goes on with the other partitions while one is stuck", async () => {
    const { topic, bus } = await fresh({ partitions: 4 });
    const keys = await keysByPartition(bus, topic);
    expect(keys).toHaveLength(4);
    const release = Promise.withResolvers<void>();
    const reader = await collect(bus, {
      group: "g",
      topic,
      act: (messages) => (messages.some(({ partition }) => partition === 2) ? release.promise : Promise.resolve()),
    });
    for (let round = 1; round <= 5; round += 1) {
      await bus.publish(
        topic,
        keys.map((key) => numbered(key, round)),
      );
      await eventually(() => [0, 1, 3].every((index) => reader.numbers(keys[index]).includes(round)));
    }
    expect(reader.numbers(keys[2])).not.toContain(2);
    release.resolve();
    await eventually(() => reader.numbers(keys[2]).includes(5));
    expect(reader.numbers(keys[2])).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is shared by the members of a group, and one takes over what a killed one had", async () => {
    const { prefix, topic, bus } = await fresh({ partitions: 4 });
    const reader = await collect(bus, { group: "g", topic });
    const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
    let number = 0;
    const round = async () => {
      const first = number + 1;
      number += keys.length;
      await bus.publish(
        topic,
        keys.map((key, index) => numbered(key, first + index)),
      );
    };
    await round();
    await eventually(() => reader.numbers().length === 40);
    const program = import.meta.resolve("@tessera/testkit/engines/kafka-member");
    const member = spawn(
      process.execPath,
      ["--conditions=source", new URL(program).pathname, brokers, prefix, "g", topic],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      const printed: string[] = [];
      member.stdout.on("data", (bytes: Buffer) => printed.push(bytes.toString()));
      await eventually(async () => {
        await round();
        await sleep(200);
        return printed.length > 0;
      });
      const all = () => new Set([...reader.numbers(), ...printed.join("").split("\n").filter(Boolean).map(Number)]);
      await eventually(() => all().size === number);
      member.kill("SIGKILL");
      const before = number;
      await round();
      // Only the surviving reader counts: the killed one says nothing any more.
      await eventually(() => reader.numbers().filter((read) => read > before).length === 40);
      expect(all().size).toBe(number);
    } finally {
      member.kill("SIGKILL");
    }
  });

  it("starts again when its topic was deleted and created again", async () => {
    const { prefix, topic, bus } = await fresh({ partitions: 1 });
    const reader = await collect(bus, { group: "g", topic });
    await bus.publish(
      topic,
      [1, 2, 3].map((number) => numbered("k", number)),
    );
    await eventually(() => reader.numbers().length === 3);
    await client.administer(10_000, (admin) => admin.deleteTopics({ topics: [prefix + topic] }));
    await eventually(async () => {
      await createKafkaTopic(brokers, prefix + topic, { partitions: 1 }).catch(() => {});
      return publishUntilTaken(bus, topic, [numbered("k", 4)]).then(() => true);
    });
    await eventually(() => reader.numbers().includes(4));
    expect(reader.numbers()).toEqual([1, 2, 3, 4]);
  });

  it("starts at what is left when its place was deleted", async () => {
    const { prefix, topic, bus } = await fresh({ partitions: 1 });
    const before = await collect(bus, { group: "g", topic });
    await bus.publish(topic, [numbered("k", 1)]);
    await eventually(() => before.numbers().length === 1);
    await bus.close();
    const later = open(prefix);
    await later.publish(
      topic,
      [2, 3].map((number) => numbered("k", number)),
    );
    // One publication is its messages and the mark of its commit.
    await client.administer(10_000, async (admin) => {
      await admin.fetchTopicOffsets(prefix + topic);
      await admin.deleteTopicRecords({ topic: prefix + topic, partitions: [{ partition: 0, offset: "3" }] });
    });
    const after = await collect(later, { group: "g", topic });
    await eventually(() => after.numbers().includes(3));
    expect(after.numbers()).toEqual([3]);
  });

  it("hands over what others have written, whatever it looks like", async () => {
    const { prefix, topic, bus } = await fresh({ partitions: 1 });
    const reader = await collect(bus, { group: "g", topic });
    const { producer } = client.producer(`${prefix}foreign`);
    await producer.connect();
    const foreign = await producer.transaction();
    await foreign.send({
      topic: prefix + topic,
      messages: [
        { key: null, value: null },
        { key: Buffer.from([0xff, 0x00]), value: Buffer.from([0xff]) },
        {
          value: "no key",
          headers: { twice: ["a", Buffer.from("b")], bytes: Buffer.from([0xff]), ["__proto__"]: "x" },
        },
        { key: "", value: "", headers: { toString: "own" } },
      ],
    });
    await foreign.commit();
    await producer.disconnect();
    await eventually(() => reader.received.length === 4);
    const place = { offset: expect.stringMatching(/^[0-9]+$/), storedAt: expect.any(Number) };
    const seen = reader.received.map(({ key, headers, place: at }) => ({ key, headers, place: at }));
    const expected: unknown[] = [
      { key: "", headers: {}, place },
      { key: "\ufffd\0", headers: {}, place },
      { key: "", headers: { twice: "b", bytes: "\ufffd", ["__proto__"]: "x" }, place },
      { key: "", headers: { toString: "own" }, place },
    ];
    expect(seen).toEqual(expected);
    expect(reader.received[0]?.value).toBeNull();
    const [{ storedAt } = { storedAt: 0 }] = reader.received.flatMap(({ place: at }) => at ?? []);
    expect(Math.abs(storedAt - Date.now() * 1000)).toBeLessThan(60_000_000);
  });

  it("counts what a group has still to accept, also what other processes read", async () => {
    const { prefix, topic, bus } = await fresh({ partitions: 4 });
    const other = open(prefix);
    const release = Promise.withResolvers<void>();
    await collect(bus, { group: "slow", topic, act: () => release.promise });
    await collect(other, { group: "slow", topic, act: () => release.promise });
    const fast = await collect(bus, { group: "fast", topic });
    await bus.publish(
      topic,
      Array.from({ length: 100 }, (_, index) => numbered(`key ${index}`, index)),
    );
    await eventually(() => fast.numbers().length === 100);
    const backlogOf = async (group: string) =>
      (await bus.backlog()).find((entry) => entry.group === group)?.messages ?? -1;
    await eventually(async () => (await backlogOf("fast")) === 0);
    // Each partition's mark of the commit counts as a message.
    expect(await backlogOf("slow")).toBeGreaterThanOrEqual(100);
    release.resolve();
    await eventually(async () => (await backlogOf("slow")) === 0);
  });
});

it("makes Node warn of nothing", () => {
  expect(warned).toEqual([]);
});
