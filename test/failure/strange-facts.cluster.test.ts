import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type IHeaders, kafkaClient } from "@tessera/engines/kafka/client";
import { kafkaBus } from "@tessera/engines/kafka/kafka";
import type { Bus, Delivery } from "@tessera/kit/bus/bus";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { recordFeed, topics } from "@tessera/protos/topics";
import type { Dice } from "@tessera/testkit/dice";
import { publishUntilTaken, quiet } from "@tessera/testkit/engines/kafka-bed";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { longestSilenceMs } from "./availability.ts";
import { compareCopies } from "./compare-copies.ts";
import { countFacts, forgetArrivals, readParked } from "./fact-ledger.ts";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, measure, recoveryMs, untilScanned } from "./load.ts";
import { pulseRecord } from "./pulse.ts";
import { report, shuffle, withDice } from "./seeded.ts";

let cluster: FestivalCluster;

beforeAll(async () => {
  cluster = await startFestivalCluster();
});
afterAll(() => cluster?.remove());

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await cluster?.endLoads();
  for (const step of undo.splice(0).reverse()) await step();
});

const copied = [
  topics.credentialChanged,
  topics.eventChanged,
  topics.categoryChanged,
  topics.itemChanged,
  topics.positionChanged,
].map(({ name }) => name);

/** A bus that publishes to the topics of the cluster. */
function openBus(): Bus {
  const bus = kafkaBus({
    brokers: kafkaOfThisRun().split(","),
    clientId: "stranger",
    topicPrefix: cluster.prefix,
    log: quiet,
  });
  undo.push(() => bus.close());
  return bus;
}

/** All messages in the topics, read in a group of its own. */
async function readTopics(bus: Bus): Promise<Delivery[]> {
  const read: Delivery[] = [];
  for (const topic of copied) {
    await bus.subscribe({
      group: `stranger-${randomUUID()}`,
      topic,
      deliver: async (messages) => void read.push(...messages),
    });
  }
  await expect
    .poll(
      async () => {
        const backlog = await bus.backlog();
        return read.length > 0 && backlog.every(({ messages }) => messages === 0);
      },
      { timeout: 30_000, interval: 200 },
    )
    .toBe(true);
  return read;
}

/** Publishes messages again to random partitions, so that they arrive out of order. */
async function publishAgain(bus: Bus, messages: readonly Delivery[], dice: Dice): Promise<void> {
  for (const [topic, group] of Map.groupBy(messages, (message) => message.topic)) {
    const partitions = await bus.partitions(topic);
    const moved = shuffle(group, dice).map(({ key, value, headers }) => ({
      key,
      value,
      headers,
      partition: dice.below(partitions),
    }));
    for (let start = 0; start < moved.length; start += 300)
      await publishUntilTaken(bus, topic, moved.slice(start, start + 300));
  }
}

/** Waits until the consumers have read all messages that are in the topics now. */
async function untilRead(): Promise<void> {
  await importUntilAnswered({ baseUrl: cluster.baseUrls[0], body: pulseRecord(randomUUID()) });
}

it("[S10.2] facts that are repeated, in another order and on other partitions, act once, and the newest state stays", () =>
  withDice(async (dice) => {
    const { db, festival, baseUrls } = cluster;
    // So that there are older states.
    await importUntilAnswered({ baseUrl: baseUrls[0], body: festival.edition(dice.fork()).body });
    const bus = openBus();
    const history = await readTopics(bus);
    const load = cluster.startLoad(dice, { connectionsMayBreak: false });
    await publishAgain(bus, history, dice);
    const { edition, oddities, attempts, imports } = await load.finish();

    const newest = new Map(history.map((message) => [`${message.topic} ${message.key}`, message]));
    const superseded = history
      .filter((message) => {
        const last = newest.get(`${message.topic} ${message.key}`);
        // Consumers do not remember deleted entities: an older state of one would create it again.
        return (
          message !== last && last?.value !== null && message.value !== null && !(header.marker in message.headers)
        );
      })
      .map((message) => ({ ...message, headers: { ...message.headers, [header.factId]: randomUUID() } }));
    const alive = await keysAlive();
    const stale = superseded.filter(({ topic, key }) => topic !== topics.positionChanged.name || alive.has(key));
    await publishAgain(bus, stale, dice);
    await untilRead();
    const staleIds = stale.map(({ headers }) => headers[header.factId] ?? "");
    const acted = await db.one<{ count: number }>(
      sql`select count(*) as count from ledger.arrived where arrived.fact_id = any(${staleIds}::uuid[])`,
    );
    await forgetArrivals(db, staleIds);
    report({ again: history.length, stale: stale.length, ...measure({ attempts, imports }) });
    // Otherwise they have not even been read.
    expect(acted.count).toBeGreaterThanOrEqual(stale.length);
    expect(stale.length).toBeGreaterThan(100);
    expect(history.length).toBeGreaterThan(2000);
    expect(oddities).toEqual([]);
    expect(await compareCopies(db)).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(cluster.loggedErrors()).toEqual([]);
  }));

/** Keys of the positions that exist. */
async function keysAlive(): Promise<Set<string>> {
  const rows = await cluster.db.many<{ key: string }>(
    sql`select organizer || '/' || event || '/' || id as key from boxoffice.position`,
  );
  return new Set(rows.map(({ key }) => key));
}

const nonsense = Buffer.alloc(40, 0xff);

it("[S10.1] messages that are no facts are parked with their cause, and all others are applied", () =>
  withDice(async (dice) => {
    const { db, festival } = cluster;
    const load = cluster.startLoad(dice, { connectionsMayBreak: false });
    const [ticket] = festival.spare;
    const key = `bigevents/sampleconf/${ticket?.position}`;
    const fact = (text = `${Date.now()}000`): IHeaders => ({ [header.factId]: randomUUID(), [header.at]: text });
    const positions = [
      ...Array.from({ length: 12 }, (_, partition) => ({
        key: "",
        value: Buffer.concat([nonsense, Buffer.from([partition])]),
        partition,
      })),
      { key, value: nonsense, headers: fact(), partition: 1 },
      // It would delete the ticket if it had a fact id.
      { key, value: null, partition: 2 },
      { key, value: null, headers: fact("yesterday"), partition: 3 },
      { key: Buffer.from([0, 255, 0]), value: Buffer.alloc(0), headers: { [header.factId]: nonsense }, partition: 4 },
      { key, value: nonsense, headers: { [header.marker]: "no uuid" }, partition: 5 },
    ];
    const credentials = [
      { key: "", value: nonsense },
      { key: "bigevents//1:1", value: null },
    ];
    // Other programs write to this one, and need no keys.
    const fed = [
      { key: null, value: nonsense },
      { key: null, value: Buffer.from("[]") },
    ];
    const client = kafkaClient({ brokers: kafkaOfThisRun().split(","), clientId: "stranger", log: quiet });
    const { producer } = client.producer(`stranger-${randomUUID()}`);
    undo.push(() => producer.disconnect());
    await producer.connect();
    const [topic, ofKeys] = [topics.positionChanged, topics.credentialChanged].map(
      ({ name }) => `${cluster.prefix}${name}`,
    );
    const refused = await producer.transaction();
    // The broker requires keys on compacted topics.
    await expect(
      refused.send({ topic: topic ?? "", messages: [{ key: null, value: nonsense }] }),
    ).rejects.toMatchObject({
      type: "INVALID_RECORD",
    });
    await refused.abort();
    const from = performance.now();
    const transaction = await producer.transaction();
    await transaction.send({ topic: topic ?? "", messages: positions });
    await transaction.send({ topic: ofKeys ?? "", messages: credentials });
    await transaction.send({ topic: `${cluster.prefix}${recordFeed.name}`, messages: fed });
    await transaction.commit();
    await untilRead();
    const settledAfterMs = Math.round(performance.now() - from);
    const { edition, oddities, attempts, imports } = await load.finish();
    const ofFeed = async () => (await readParked(db)).filter(({ consumer }) => consumer.endsWith(recordFeed.name));
    await expect.poll(ofFeed, { interval: 100 }).toHaveLength(fed.length);
    const parked = await readParked(db);
    report({
      settledAfterMs,
      parked: parked.map(({ consumer, cause }) => `${consumer}: ${cause}`),
      ...measure({ attempts, imports }),
    });
    const byConsumer = Map.groupBy(parked, ({ consumer }) => consumer);
    expect(byConsumer.get(`checkin ${topics.positionChanged.name}`)).toHaveLength(positions.length);
    expect(byConsumer.get(`gateway ${topics.credentialChanged.name}`)).toHaveLength(credentials.length);
    for (const { cause } of parked) expect(cause).toMatch(/\w{5}/);
    await forgetArrivals(
      db,
      parked.map(({ factId }) => factId),
    );
    expect(oddities).toEqual([]);
    expect(await compareCopies(db)).toEqual([]);
    expect(await cluster.verify(edition, { poisoned: true })).toEqual([]);
    expect(cluster.loggedErrors().filter((line) => !line.includes("fact parked"))).toEqual([]);
  }));

/** More than the silence after which a consumer loses its partitions. */
const pausedMs = 12_000;
const fewFacts = 100;

it("facts wait for frozen consumers, and act once and in order when these continue", () =>
  withDice(async (dice) => {
    const { db } = cluster;
    const load = cluster.startLoad(dice, { connectionsMayBreak: false });
    await untilScanned(load.gates.attempts, performance.now(), 50 + dice.below(100));
    const checkins = ["checkin-1", "checkin-2"].map((name) => cluster.process(name));
    const counted = { service: "checkin", topic: topics.positionChanged.name };
    const freeze = async () => {
      for (const process of checkins) process.signal("SIGSTOP");
      await sleep(500);
      return countFacts(db, counted);
    };
    let from = performance.now();
    let begun = await freeze();
    // An import that was at its end writes few facts more, or none: they freeze in the middle of another one.
    for (let tries = 1; begun.waiting <= fewFacts && tries < 500; tries += 1) {
      for (const process of checkins) process.signal("SIGCONT");
      await sleep(dice.below(500));
      from = performance.now();
      begun = await freeze();
    }
    await sleep(pausedMs);
    const ended = await countFacts(db, counted);
    for (const process of checkins) process.signal("SIGCONT");
    const to = performance.now();
    await untilScanned(load.gates.attempts, to);
    await untilRead();
    const caughtUpAfterMs = Math.round(performance.now() - to);
    const { edition, oddities, attempts, imports } = await load.finish();
    report({
      waited: ended.waiting,
      longestSilenceMs: longestSilenceMs(attempts, { from, to: performance.now() }),
      recoveryMs: Math.round(recoveryMs(attempts, to)),
      caughtUpAfterMs,
      outcomes: countOutcomes(attempts),
      ...measure({ attempts, imports }),
    });
    expect(ended.arrived).toBe(begun.arrived);
    expect(ended.waiting).toBeGreaterThan(fewFacts);
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition, { poisoned: true })).toEqual([]);
    expect(await compareCopies(db)).toEqual([]);
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
  }));
