import { randomUUID } from "node:crypto";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { effectsByKey, type Numbered, noteEffects, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Db, openDatabase } from "../pg/database.ts";
import { roleOf } from "../pg/provision.ts";
import { sql } from "../pg/sql.ts";
import { pause } from "../waiting/pause.ts";
import type { Delivery } from "./bus.ts";
import { consume, limitTransactions } from "./consume.ts";
import { nothingErased } from "./dead-letter.ts";
import type { Apply } from "./fact.ts";
import { header } from "./headers.ts";

const topic = numberedTopic("owner.first.v1");
const timeLimitMs = 400;

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
/** Its statements have a short time limit. */
let reader: Db;

beforeEach(async () => {
  database = await emptyDatabase();
  reader = openDatabase({
    url: database.url,
    schema: "reader",
    role: roleOf("reader"),
    applicationName: "reader",
    statementTimeoutMs: timeLimitMs,
    log: quiet,
  });
});

afterEach(async () => {
  await reader.close();
  await database.close();
});

function fact(key: string, number: number, name = topic.name): Delivery {
  const headers = { [header.factId]: randomUUID(), [header.at]: String(Date.now() * 1000) };
  return { topic: name, partition: 0, key, value: Buffer.from(JSON.stringify([key, number])), headers };
}

function deliver(messages: readonly Delivery[], apply: Apply<Numbered>): Promise<void> {
  const consumer = consume(topic, apply).open({
    db: reader,
    group: "reader",
    log: quiet,
    isErased: nothingErased,
    deps: undefined,
  });
  return consumer.deliver(messages, new AbortController().signal);
}

const parked = () => reader.many<{ key: string; cause: string }>(sql`select key, cause from dead_letter order by id`);

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

describe("facts that together run into the time limit", () => {
  it.each([
    ["of many keys", (number: number) => `key ${number}`],
    ["of one key, in their order", () => "k"],
  ])("are applied in smaller parts: %s", async (_name, keyOf) => {
    const sizes: number[] = [];
    const messages = numbers(60).map((number) => fact(keyOf(number), number));
    await deliver(messages, async (tx, facts) => {
      sizes.push(facts.length);
      await noteEffects(tx, topic.name, facts);
      // All of them take 0.9 s.
      await tx.run(sql`select pg_sleep(${facts.length * 0.015})`);
    });
    expect(Object.values(await effectsByKey(reader)).flat()).toEqual(
      keyOf(0) === "k" ? numbers(60) : expect.arrayContaining(numbers(60)),
    );
    expect(await parked()).toEqual([]);
    expect(sizes[0]).toBe(60);
  });
});

describe("a fact that always runs into the time limit", () => {
  it("becomes a dead letter; the others are applied before, and those of its key behind it", async () => {
    const messages = numbers(40).map((number) => fact(`key ${number % 20}`, number));
    const delivered = deliver(messages, async (tx, facts) => {
      await noteEffects(tx, topic.name, facts);
      if (facts.some(({ value }) => value?.number === 7)) await tx.run(sql`select pg_sleep(10)`);
    });
    const others = async () => Object.values(await effectsByKey(reader)).flat().length === 38;
    await eventually(others);
    expect(await parked()).toEqual([]);
    await delivered;
    expect(await parked()).toEqual([
      { key: "key 7", cause: expect.stringContaining("timeout database_timeout: the database took too long") },
    ]);
    const effects = await effectsByKey(reader);
    expect(effects["key 7"]).toEqual([27]);
    expect(effects["key 8"]).toEqual([8, 28]);
  });
});

describe("a fact of another partition", () => {
  it("waits for no second try of a fact that runs into the time limit", async () => {
    const together: string[] = [];
    const consumer = consume(topic, async (tx, facts) => {
      together.push(facts.map(({ key }) => key).join(" "));
      await noteEffects(tx, topic.name, facts);
      await tx.run(sql`select pg_sleep(${facts.some(({ key }) => key === "slow") ? 10 : 0.1})`);
    }).open({ db: reader, group: "reader", log: quiet, isErased: nothingErased, deps: undefined });
    const { signal } = new AbortController();
    const parts = numbers(150).map((partition) => ({ ...fact(`k${partition}`, 1), partition }));
    const slow = consumer.deliver([{ ...fact("slow", 7), partition: 999 }], signal);
    // Some of them are waiting at every moment, also when the slow one is tried again.
    const others = parts.map(async (message, index) => {
      await pause(50 + index * 10, signal);
      await consumer.deliver([message], signal);
    });
    await Promise.all([slow, ...others]);
    expect(together.filter((keys) => keys.includes("slow"))).toEqual(["slow", "slow", "slow"]);
    expect((await parked()).map(({ key }) => key)).toEqual(["slow"]);
  });
});

describe("a fact whose row another transaction holds", () => {
  it("waits for it, as long as it takes, and alone", async () => {
    await reader.run(sql`create table thing (key text primary key)`);
    await reader.run(sql`insert into thing (key) select 'key ' || n from generate_series(0, 29) as n`);
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = reader.transaction(async (tx) => {
      await tx.run(sql`select from thing where key = 'key 7' for update`);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    let tries = 0;
    const delivered = deliver(
      numbers(60).map((number) => fact(`key ${number % 30}`, number)),
      async (tx, facts) => {
        if (facts.some(({ key }) => key === "key 7")) tries += 1;
        await tx.run(sql`set local lock_timeout = '20ms'`);
        await tx.run(sql`select from thing where key = any(${facts.map(({ key }) => key)}::text[]) for update`);
        await noteEffects(tx, topic.name, facts);
      },
    );
    await eventually(async () => tries > 8 && Object.values(await effectsByKey(reader)).flat().length === 58);
    release.resolve();
    await holder;
    await delivered;
    expect((await effectsByKey(reader))["key 7"]).toEqual([7, 37]);
    expect(await parked()).toEqual([]);
  });
});

describe("consumers of one service", () => {
  it("share three transactions, of which one topic gets two at most, and each topic has its turn", async () => {
    const turns = limitTransactions();
    const full = Promise.withResolvers<void>();
    const running = new Map<string, number>();
    const most = new Map<string, number>();
    const count = (name: string, change: number) => {
      running.set(name, (running.get(name) ?? 0) + change);
      most.set(name, Math.max(most.get(name) ?? 0, running.get(name) ?? 0));
      if (running.get("all") === 3) full.resolve();
    };
    const open = (name: string) =>
      consume(numberedTopic(name), async (tx) => {
        for (const each of [name, "all"]) count(each, 1);
        // The first ones wait for each other: on a busy machine they would else end before the third begins.
        await full.promise;
        await tx.run(sql`select pg_sleep(0.02)`);
        for (const each of [name, "all"]) count(each, -1);
      }).open({ db: reader, group: "reader", log: quiet, turns, isErased: nothingErased, deps: undefined });
    const ended: string[] = [];
    const names = ["owner.busy.v1", "owner.calm.v1"];
    const deliveries = names.flatMap((name) => {
      const consumer = open(name);
      const partitions = name === "owner.busy.v1" ? 40 : 2;
      return numbers(partitions).map(async (partition) => {
        // So many that no two of them fit into one transaction.
        const messages = numbers(300).map((number) => ({ ...fact(`k${partition}`, number, name), partition }));
        await consumer.deliver(messages, new AbortController().signal);
        ended.push(name);
      });
    });
    await Promise.all(deliveries);
    expect(most.get("all")).toBe(3);
    expect(most.get("owner.busy.v1")).toBe(2);
    expect(ended.slice(0, 12).filter((name) => name === "owner.calm.v1")).toHaveLength(2);
  });
});
