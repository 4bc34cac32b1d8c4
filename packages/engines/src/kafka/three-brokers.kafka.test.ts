import { setTimeout as sleep } from "node:timers/promises";
import { collect, numbered, numberOf, quiet } from "@tessera/testkit/engines/kafka-bed";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import { eventually } from "@tessera/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kafkaBus } from "./kafka.ts";
import { applyTopics } from "./topics.ts";

const timeout = 240_000;
const keys = Array.from({ length: 24 }, (_, index) => `key ${index}`);
let engine: KafkaEngine;

beforeAll(async () => {
  engine = await startKafka({ brokers: 3 });
}, timeout);

afterAll(() => engine?.stop(), timeout);

const access = () => ({ brokers: engine.brokers.split(","), clientId: "test", log: quiet });

describe("three brokers", { timeout }, () => {
  it("killed one after the other lose nothing that was acknowledged, keep the order, and take more meanwhile", async () => {
    const { applied } = await applyTopics(
      [{ name: "states", partitions: 6, retention: { kind: "compacted" } }],
      access(),
    );
    expect(applied).toHaveLength(1);
    const publisher = kafkaBus({ ...access(), publishTimeoutMs: 10_000 });
    const members = [0, 1].map(() => kafkaBus({ ...access(), sessionTimeoutMs: 3000, heartbeatIntervalMs: 500 }));
    const readers = await Promise.all(members.map((bus) => collect(bus, { group: "g", topic: "states" })));
    const acknowledged: number[] = [];
    let running = true;

    /** Like the relay: a batch is published until it succeeds, and only then the next one. */
    const publishing = (async () => {
      for (let first = 1; running; first += keys.length) {
        const batch = keys.map((key, index) => numbered(key, first + index));
        for (let taken = false; !taken; ) {
          taken = await publisher.publish("states", batch).then(
            () => true,
            async () => {
              await sleep(100);
              return false;
            },
          );
        }
        acknowledged.push(...batch.map(numberOf));
        await sleep(10);
      }
    })();

    const untilMore = async () => {
      const before = acknowledged.length;
      await eventually(() => acknowledged.length > before + 20 * keys.length);
    };
    for (const node of [1, 2, 3]) {
      await untilMore();
      await engine.kill(node);
      await untilMore();
      await engine.start(node);
      await untilMore();
    }
    running = false;
    await publishing;

    const arrived = () => new Set(readers.flatMap((reader) => reader.numbers()));
    await eventually(() => arrived().size >= acknowledged.length);
    const here = arrived();
    const missing = acknowledged.filter((number) => !here.has(number));
    const received = readers.reduce((sum, reader) => sum + reader.received.length, 0);
    console.info(`${acknowledged.length} acknowledged, ${missing.length} lost, ${received - here.size} twice`);
    expect(missing).toEqual([]);

    // A new consumer of the compacted topic sees the newest state of each key last.
    const late = kafkaBus(access());
    const replay = await collect(late, { group: "late", topic: "states" });
    await eventually(() => replay.numbers().length >= acknowledged.length);
    for (const key of keys) {
      const history = replay.received.filter((delivery) => delivery.key === key).map(numberOf);
      expect(history.at(-1)).toBe(Math.max(...history));
      expect(replay.numbers(key)).toEqual(replay.numbers(key).toSorted((a, b) => a - b));
    }
    await Promise.all([publisher, ...members, late].map((bus) => bus.close()));
  });
});
