import { memoryBus } from "@tessera/engines/memory-bus";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { isDrained, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Bus, Message } from "./bus.ts";
import { nothingErased } from "./dead-letter.ts";
import { header } from "./headers.ts";
import { countDeadLetters, findDeadLetters, requestReplays } from "./operators.ts";
import { type Relay, startRelay } from "./relay.ts";

const states = numberedTopic("owner.first.v1");
const events = numberedTopic("owner.second.v1");

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let owner: Db;
const relays: Relay[] = [];

/** What the bus got, in order: `key number`, or `key gone` for a tombstone, or `marker`. */
let published: string[];
/** Numbers that the bus refuses for good. */
let refused: Set<number>;

beforeEach(async () => {
  database = await emptyDatabase();
  owner = database.open("owner");
  [published, refused] = [[], new Set()];
});

afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.stop();
  await database.close();
});

const numberOf = ({ value }: Message) =>
  value === null || value.length === 0 ? undefined : states.decode(value).number;

function describeMessage(message: Message): string {
  if (message.headers[header.marker] !== undefined) return "marker";
  return `${message.key} ${numberOf(message) ?? "gone"}`;
}

/** Refuses a publication as Kafka does: all of it. */
const choosy: Bus = {
  async publish(_topic, messages) {
    if (messages.some((message) => refused.has(numberOf(message) ?? -1)))
      throw new Fault("unmet", "message_too_large", "a message is larger than the topic takes");
    published.push(...messages.map(describeMessage));
  },
  subscribe: async () => {},
  partitions: async () => 1,
  backlog: async () => [],
  close: async () => {},
};

function start(bus = choosy): Relay {
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, states: new Set([states.name]) });
  relays.push(relay);
  return relay;
}

const write = (facts: readonly (readonly [key: string, number: number])[], topic = states) =>
  owner.transaction((tx) =>
    tx.publish(
      topic,
      facts.map(([key, number]) => ({ key, number })),
    ),
  );

const letters = async () => (await findDeadLetters(owner, {})).letters;

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("a fact that the bus refuses for good", () => {
  it("becomes a dead letter of the outbox; all others are published, in order", async () => {
    refused = new Set([13, 170]);
    await write(upTo(300).map((number) => [`key ${number}`, number]));
    await write([["other", 1]], events);
    start();
    await eventually(() => isDrained(owner));
    const expected = upTo(300).filter((number) => !refused.has(number));
    expect(published.filter((line) => line.startsWith("key")).map((line) => Number(line.split(" ")[2]))).toEqual(
      expected,
    );
    expect(published).toContain("other 1");
    const cause = "unmet message_too_large: a message is larger than the topic takes";
    const common = { topic: states.name, isOutgoing: true, isReplayRequested: false, tries: 0 };
    expect(await letters()).toMatchObject([
      { ...common, key: "key 13", cause: expect.stringContaining(cause) },
      { ...common, key: "key 170", cause: expect.stringContaining(cause) },
    ]);
    expect(await countDeadLetters(owner, { group: "owner", atMost: 100 })).toEqual([
      { topic: states.name, isOutgoing: true, count: 2, replaysRequested: 0 },
    ]);
  });

  it("is published on request when the bus takes it, and else stays with the number of tries", async () => {
    refused = new Set([1, 2]);
    await write([
      ["a", 1],
      ["b", 2],
    ]);
    start();
    await eventually(async () => (await letters()).length === 2);
    refused = new Set([2]);
    await requestReplays(owner, {});
    await eventually(async () => (await letters()).every((letter) => !letter.isReplayRequested));
    expect(await letters()).toMatchObject([{ key: "b", tries: 1 }]);
    expect(published).toEqual(["a 1"]);
    refused = new Set();
    await requestReplays(owner, {});
    await eventually(async () => (await letters()).length === 0);
    expect(published).toEqual(["a 1", "b 2"]);
  });

  it("is replayed by the next leader, too", async () => {
    refused = new Set([1]);
    await write([["a", 1]]);
    const first = start();
    await eventually(async () => (await letters()).length === 1);
    await first.stop();
    await requestReplays(owner, {});
    refused = new Set();
    start();
    await eventually(async () => (await letters()).length === 0);
    expect(published).toEqual(["a 1"]);
  });
});

describe("a refused state", () => {
  it.each([
    ["a later state", () => write([["a", 2]]), "a 2"],
    ["a tombstone", () => owner.transaction((tx) => tx.retract(states, ["a"])), "a gone"],
  ])("is dropped when %s of its entity is published", async (_name, change, expected) => {
    refused = new Set([1]);
    await write([
      ["a", 1],
      ["b", 1],
    ]);
    start();
    await eventually(async () => (await letters()).length === 2);
    await change();
    await eventually(() => isDrained(owner));
    expect(published).toEqual([expected]);
    expect(await letters()).toMatchObject([{ key: "b" }]);
  });

  it("is kept where facts are events", async () => {
    refused = new Set([1]);
    await write([["a", 1]], events);
    start();
    await eventually(async () => (await letters()).length === 1);
    await write([["a", 2]], events);
    await eventually(() => isDrained(owner));
    expect(await letters()).toHaveLength(1);
  });

  it("keeps the end of its rebuild back, or copies of it would be swept", async () => {
    refused = new Set([2]);
    start();
    await write([
      ["a", 1],
      ["b", 2],
    ]);
    const headers = JSON.stringify({
      [header.sweepBelow]: "9",
      [header.sweepPartitions]: "1",
      [header.sweepSince]: "0",
    });
    await owner.run(sql`
      insert into outbox (topic, key, partition, payload, marker, headers)
      values (${states.name}, 'rebuild', 0, ''::bytea, gen_random_uuid(), ${headers}::jsonb)`);
    await write([["c", 3]]);
    await eventually(() => isDrained(owner));
    expect(published).toEqual(["a 1", "c 3"]);
    expect(await letters()).toMatchObject([
      { key: "b" },
      { key: "rebuild", cause: expect.stringContaining("facts_parked") },
    ]);
    await requestReplays(owner, {});
    await eventually(async () => (await letters()).every((letter) => !letter.isReplayRequested));
    expect(published).toEqual(["a 1", "c 3"]);
    refused = new Set();
    await requestReplays(owner, {});
    await eventually(async () => (await letters()).length === 0);
    expect(published).toEqual(["a 1", "c 3", "b 2", "marker"]);
  });
});

describe("a fact that no topic can carry", () => {
  it("is refused where it is written, and nothing of its transaction remains", async () => {
    const large = { ...states, encode: () => new Uint8Array(4 * 1024 * 1024) };
    const writing = owner.transaction(async (tx) => {
      await tx.publish(states, [{ key: "a", number: 1 }]);
      await tx.publish(large, [{ key: "b", number: 2 }]);
    });
    await expect(writing).rejects.toMatchObject({ kind: "invalid", code: "fact_too_large" });
    expect(await isDrained(owner)).toBe(true);
  });
});

describe("the relay", () => {
  it("publishes large facts in smaller batches", async () => {
    const sizes: number[] = [];
    const bus: Bus = { ...choosy, publish: async (_topic, messages) => void sizes.push(messages.length) };
    const large = { ...states, encode: () => new Uint8Array(1000) };
    await owner.transaction((tx) =>
      tx.publish(
        large,
        upTo(10).map((number) => ({ key: "k", number })),
      ),
    );
    relays.push(startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, batchBytes: 2500 }));
    await eventually(() => isDrained(owner));
    expect(sizes).toEqual([3, 3, 3, 1]);
    sizes.length = 0;
    await owner.transaction((tx) =>
      tx.publish(
        large,
        upTo(2).map((number) => ({ key: "k", number })),
      ),
    );
    await eventually(() => isDrained(owner));
    expect(sizes).toEqual([2]);
  });

  it("lets the slow facts of one subject delay no other, while those of a key stay in order", async () => {
    const bus = memoryBus([]);
    const release = Promise.withResolvers<void>();
    const received: string[] = [];
    await bus.subscribe({
      group: "reader",
      topic: states.name,
      async deliver(messages) {
        if (messages.some(({ key }) => key.startsWith("org/slow/"))) await release.promise;
        received.push(...messages.map(describeMessage));
      },
    });
    await write(upTo(1200).map((number) => [`org/slow/${number % 7}`, number]));
    start(bus);
    await eventually(async () => (await bus.backlog()).some(({ messages }) => messages > 0));
    const names = upTo(30).map((event) => `org/event ${event}`);
    for (const round of [1, 2]) await write(names.map((name) => [`${name}/1`, round]));
    // A few events share the lane of the slow one.
    const quick = () => names.filter((name) => received.includes(`${name}/1 2`));
    await eventually(async () => quick().length > 20);
    expect(received.filter((line) => line.startsWith("org/slow/"))).toEqual([]);
    release.resolve();
    await eventually(() => isDrained(owner));
    const numbersOf = (key: string) =>
      received.filter((line) => line.startsWith(`${key} `)).map((line) => Number(line.split(" ").at(-1)));
    for (const name of names) expect(numbersOf(`${name}/1`)).toEqual([1, 2]);
    for (const rest of [0, 1, 2, 3, 4, 5, 6])
      expect(numbersOf(`org/slow/${rest}`)).toEqual(upTo(1200).filter((number) => number % 7 === rest));
    await bus.close();
  });
});
