import { randomBytes, randomUUID } from "node:crypto";
import { kafkaBus } from "@tessera/engines/kafka/kafka";
import type { TestDatabase } from "@tessera/testkit/database";
import { createKafkaTopic } from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { eventually } from "@tessera/testkit/eventually";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { isDrained, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { nothingErased } from "./dead-letter.ts";
import { findDeadLetters } from "./operators.ts";
import { startRelay } from "./relay.ts";

const topic = numberedTopic("owner.first.v1");

let database: TestDatabase;
let owner: Db;

beforeEach(async () => {
  database = await createFactDatabase();
  owner = database.open("owner");
});

afterEach(() => database.drop());

it("a fact that is larger than its topic takes stops no other fact of the topic", async () => {
  const topicPrefix = `refused-${randomUUID()}.`;
  await createKafkaTopic(kafkaOfThisRun(), `${topicPrefix}${topic.name}`, {
    partitions: 1,
    settings: { "max.message.bytes": "50000" },
  });
  const brokers = kafkaOfThisRun().split(",");
  const bus = kafkaBus({ brokers, clientId: "refused", topicPrefix, log: quiet });
  const write = (key: string, payload: Uint8Array | null) =>
    owner.transaction((tx) =>
      payload === null
        ? tx.retract(topic, [key])
        : tx.publish({ ...topic, encode: () => payload }, [{ key, number: 0 }]),
    );
  const small = (number: number) => Buffer.from(JSON.stringify(["k", number]));
  for (let number = 1; number <= 20; number += 1) await write(`key ${number}`, small(number));
  // Random bytes: a broker measures what is compressed.
  for (const key of ["huge", "gone"]) await write(key, randomBytes(60_000));
  for (let number = 21; number <= 40; number += 1) await write(`key ${number}`, small(number));
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, states: new Set([topic.name]) });
  try {
    const received: (string | undefined)[] = [];
    await bus.subscribe({
      group: "reader",
      topic: topic.name,
      deliver: async (messages) => void received.push(...messages.map(({ key }) => key)),
    });
    await eventually(() => isDrained(owner));
    const letters = async () => (await findDeadLetters(owner, {})).letters;
    expect(await letters()).toMatchObject([
      { key: "huge", isOutgoing: true, cause: expect.stringContaining("message_too_large") },
      { key: "gone", isOutgoing: true },
    ]);
    await write("gone", null);
    await eventually(async () => received.length === 41);
    expect(received).toEqual([...Array.from({ length: 40 }, (_, index) => `key ${index + 1}`), "gone"]);
    await eventually(async () => (await letters()).length === 1);
    expect(await letters()).toMatchObject([{ key: "huge" }]);
  } finally {
    await bus.close();
    await relay.stop();
  }
});
