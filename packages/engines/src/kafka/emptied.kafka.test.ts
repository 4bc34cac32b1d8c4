import type { Bus } from "@tessera/kit/bus/bus";
import { createLog } from "@tessera/kit/telemetry/log";
import { collect, numbered, publishUntilTaken } from "@tessera/testkit/engines/kafka-bed";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import { eventually } from "@tessera/testkit/eventually";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { kafkaBus } from "./kafka.ts";
import { applyTopics, type DeclaredTopic } from "./topics.ts";

const catalogue: readonly DeclaredTopic[] = ["one", "two"].map((name) => ({
  name,
  partitions: 2,
  retention: { kind: "compacted" },
}));

let engine: KafkaEngine;
const lines: { level: string; message: string }[] = [];
const log = createLog({ service: "test", destination: { write: (line) => lines.push(JSON.parse(line)) } });
const access = () => ({ brokers: engine.brokers.split(","), clientId: "test", log });
const opened: Bus[] = [];

beforeAll(async () => {
  engine = await startKafka();
  await applyTopics(catalogue, access());
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
  lines.length = 0;
});

afterAll(() => engine.stop());

function open(): Bus {
  const bus = kafkaBus({ ...access(), sessionTimeoutMs: 3000, heartbeatIntervalMs: 500, publishTimeoutMs: 5000 });
  opened.push(bus);
  return bus;
}

const warnings = () => lines.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message);

describe("a broker that comes back with nothing", () => {
  it("is read from its new beginning once the topics are applied again", async () => {
    const bus = open();
    const reader = await collect(bus, { group: "g", topic: "one" });
    await publishUntilTaken(
      bus,
      "one",
      [10, 11, 12].map((number) => numbered("k", number)),
    );
    await eventually(() => reader.numbers().includes(12));
    await engine.wipe();
    await eventually(() => warnings().includes("there is no such topic: run tessera topics apply"));
    await expect(bus.publish("one", [numbered("k", 13)])).rejects.toMatchObject({ code: "topic_missing" });
    await applyTopics(catalogue, access());
    await publishUntilTaken(bus, "one", [numbered("k", 13)]);
    await eventually(() => reader.numbers().includes(13));
  });

  it("is read from its new beginning, too, when no process was reading meanwhile", async () => {
    const former = open();
    const before = await collect(former, { group: "h", topic: "two" });
    for (let number = 1; number <= 5; number += 1) await publishUntilTaken(former, "two", [numbered("k", number)]);
    await eventually(() => before.numbers().includes(5));
    await former.close();
    await engine.wipe();
    await applyTopics(catalogue, access());
    const bus = open();
    const reader = await collect(bus, { group: "h", topic: "two" });
    await publishUntilTaken(bus, "two", [numbered("k", 6)]);
    await eventually(() => reader.numbers().includes(6));
    expect(reader.numbers()).toEqual([6]);
  });
});
