import { setTimeout as sleep } from "node:timers/promises";
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
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
  lines.length = 0;
});

afterAll(() => engine.stop());

const sessionMs = 3000;

function open(): Bus {
  const bus = kafkaBus({ ...access(), sessionTimeoutMs: sessionMs, heartbeatIntervalMs: 500, publishTimeoutMs: 5000 });
  opened.push(bus);
  return bus;
}

const warnings = () => lines.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message);

describe("a broker that is away", () => {
  it("for longer than a session loses nothing, keeps the order, and is told of once", async () => {
    await applyTopics(catalogue, access());
    const bus = open();
    const readers = await Promise.all(["one", "two"].map((topic) => collect(bus, { group: "g", topic })));
    await bus.publish("one", [numbered("k", 1)]);
    await eventually(() => readers[0]?.numbers().includes(1) === true);
    await engine.kill();
    await expect(bus.publish("one", [numbered("k", 2)])).rejects.toMatchObject({
      kind: "unavailable",
      code: "bus_unavailable",
    });
    await expect(bus.backlog()).rejects.toMatchObject({ kind: "unavailable" });
    await sleep(sessionMs);
    await engine.start();
    await publishUntilTaken(bus, "one", [numbered("k", 2), numbered("k", 3)]);
    await publishUntilTaken(bus, "two", [numbered("k", 4)]);
    await eventually(() => readers[0]?.numbers().includes(3) === true && readers[1]?.numbers().includes(4) === true);
    expect(readers[0]?.numbers()).toEqual([1, 2, 3]);
    await eventually(() => warnings().length > 1);
    expect(warnings()).toEqual(["Kafka cannot be read: facts are waiting", "Kafka can be read again"]);
  });

  it("at the start is waited for", async () => {
    await engine.kill();
    const bus = open();
    const reader = await collect(bus, { group: "early", topic: "one" });
    await sleep(sessionMs);
    await engine.start();
    await publishUntilTaken(bus, "one", [numbered("early", 5)]);
    await eventually(() => reader.numbers("early").includes(5));
    expect(reader.numbers("early")).toEqual([5]);
  });

  it("with its connections open is noticed, and read again when it answers", async () => {
    const bus = open();
    const reader = await collect(bus, { group: "g", topic: "one" });
    await bus.publish("one", [numbered("frozen", 1)]);
    await eventually(() => reader.numbers("frozen").includes(1));
    engine.freeze();
    // A thread that runs now may still answer.
    await sleep(200);
    const refused = await bus.publish("one", [numbered("frozen", 2)]).catch((error: unknown) => error);
    engine.thaw();
    expect(refused).toMatchObject({ kind: "unavailable" });
    await publishUntilTaken(bus, "one", [numbered("frozen", 3)]);
    await eventually(() => reader.numbers("frozen").includes(3));
    // A publication without an answer may have succeeded, but in its place, never after later ones.
    expect([
      [1, 3],
      [1, 2, 3],
    ]).toContainEqual(reader.numbers("frozen"));
  });

  it("lets the bus close", async () => {
    const bus = open();
    const reader = await collect(bus, { group: "g", topic: "one" });
    await publishUntilTaken(bus, "one", [numbered("closing", 1)]);
    await eventually(() => reader.numbers("closing").includes(1));
    await engine.kill();
    const publishing = bus.publish("one", [numbered("closing", 2)]).catch(() => {});
    await expect(bus.close()).resolves.toBeUndefined();
    await publishing;
    await engine.start();
  });
});
