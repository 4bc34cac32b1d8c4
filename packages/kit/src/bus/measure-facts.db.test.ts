import { randomUUID } from "node:crypto";
import { memoryBus } from "@tessera/engines/memory-bus";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import type { Backlog, Bus, Delivery } from "./bus.ts";
import { measureFacts } from "./measure-facts.ts";

const topic = "owner.first.v1";
const second = 1_000_000;
const { signal } = new AbortController();

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let db: Db;
let now: number;
let backlog: () => Promise<readonly Backlog[]>;

beforeEach(async () => {
  database = await emptyDatabase();
  db = database.open("reader");
  now = Date.UTC(2026, 10, 21) * 1000;
  backlog = async () => [];
});

afterEach(() => database.close());

function start() {
  const metrics = createMetrics();
  const bus: Bus = { ...memoryBus([]), backlog: () => backlog() };
  const meter = measureFacts({
    db,
    bus,
    clock: { now: () => now },
    log: quiet,
    metrics,
    group: "reader",
    consumes: [topic],
  });
  const read = async () => {
    const lines = (await metrics.exposition()).split("\n").filter((line) => line.startsWith("tessera_facts_"));
    return Object.fromEntries(
      lines.map((line) => {
        const [name = "", value = ""] = line.split("} ");
        return [name.replace("tessera_facts_", "").replace('service="reader"', "").replace("{,", "{"), Number(value)];
      }),
    );
  };
  return { ...meter, read, sample: () => meter.job.run(signal) };
}

function message(headers: Record<string, string>, place?: Delivery["place"]): Delivery {
  return { topic, partition: 0, key: "k", value: null, headers, ...(place === undefined ? {} : { place }) };
}

const ofTopic = `{topic="${topic}"`;

describe("the metrics of facts", () => {
  it("are nothing where nothing waits", async () => {
    const { read, sample } = start();
    await sample();
    expect(await read()).toEqual({
      "waiting{": 0,
      "waiting_seconds{": 0,
      [`backlog${ofTopic}`]: 0,
      [`backlog_seconds${ofTopic}`]: 0,
      [`parked${ofTopic}`]: 0,
    });
  });

  it("tell what waits in the outbox, how long the oldest has, and count no further than they must", async () => {
    const { read, sample } = start();
    await db.run(sql`
      insert into outbox (topic, key, created_at)
      select ${topic}, 'k', now() - make_interval(secs => 100 - n) from generate_series(1, 20) as n`);
    await sample();
    expect(await read()).toMatchObject({ "waiting{": 20, "waiting_seconds{": expect.closeTo(99, -1) });
    await db.run(sql`insert into outbox (topic, key) select ${topic}, 'k' from generate_series(1, 12000)`);
    await sample();
    expect(await read()).toMatchObject({ "waiting{": 10_000 });
  });

  it("tell what is parked, by topic, also of one that is no longer consumed", async () => {
    const { read, sample } = start();
    const park = (name: string, group = "reader") =>
      db.run(sql`
        insert into dead_letter (consumer, topic, key, fact_id, fact_at, cause)
        values (${`${group} ${name}`}, ${name}, 'k', ${randomUUID()}, now(), 'no')`);
    for (const name of [topic, topic, "owner.gone.v1"]) await park(name);
    await park(topic, "other");
    await sample();
    expect(await read()).toMatchObject({ [`parked${ofTopic}`]: 2, 'parked{topic="owner.gone.v1"': 1 });
    await db.run(sql`delete from dead_letter`);
    await sample();
    expect(await read()).toMatchObject({ [`parked${ofTopic}`]: 0, 'parked{topic="owner.gone.v1"': 0 });
  });

  it("tell what is on the bus for this group alone", async () => {
    const { read, sample } = start();
    backlog = async () => [
      { group: "reader", topic, messages: 7 },
      { group: "other", topic, messages: 9 },
    ];
    await sample();
    expect(await read()).toMatchObject({ [`backlog${ofTopic}`]: 7 });
  });

  it("tell how old the oldest fact is that is being accepted, at every scrape", async () => {
    const { read, during } = start();
    const age = async () => (await read())[`backlog_seconds${ofTopic}`];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const older = during(
      topic,
      [message({ "fact-at": String(now - 5 * second) })],
      () => gates[0]?.promise ?? Promise.reject(),
    );
    // Told again: what counts is when it was written this time.
    const again = { "fact-at": String(now - 900 * second), "written-at": String(now - second) };
    const newer = during(topic, [message(again)], () => gates[1]?.promise ?? Promise.reject());
    expect(await age()).toBe(5);
    now += 2 * second;
    expect(await age()).toBe(7);
    gates[0]?.resolve();
    await older;
    expect(await age()).toBe(3);
    gates[1]?.reject(new Error("closing"));
    await expect(newer).rejects.toThrow("closing");
    expect(await age()).toBe(0);
  });

  it.each([
    ["from outside, by when it was stored", message({}, { offset: "1", storedAt: 0 }), 0],
    ["that says nothing, as new", message({}), undefined],
    ["that comes from the future, as new", message({ "fact-at": "9000000000000000" }), undefined],
  ] as const)("take a message %s", async (_name, one, at) => {
    const { read, during } = start();
    await during(topic, [one], async () => {
      expect((await read())[`backlog_seconds${ofTopic}`]).toBe(at === undefined ? 0 : (now - at) / second);
    });
  });

  it("are missing, not stale, while they cannot be told, each for itself", async () => {
    const { read, sample } = start();
    expect(Object.keys(await read())).toEqual([`backlog_seconds${ofTopic}`]);
    await sample();
    now += 31 * second;
    backlog = () => Promise.reject(new Error("no broker"));
    await sample();
    expect(Object.keys(await read()).sort()).toEqual(
      [`backlog_seconds${ofTopic}`, `parked${ofTopic}`, "waiting_seconds{", "waiting{"].sort(),
    );
  });

  it("ask the database in the background, never at a scrape", async () => {
    const { read, sample } = start();
    await sample();
    await db.run(sql`alter table outbox rename to hidden`);
    expect(await read()).toMatchObject({ "waiting{": 0 });
    await db.run(sql`alter table hidden rename to outbox`);
  });
});
