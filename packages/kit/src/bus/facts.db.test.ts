import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import {
  effectsByKey,
  eventually,
  isDrained,
  noteEffects,
  numberedTopic,
  type Pipeline,
  type PipelineOptions,
  quiet,
  startPipeline,
} from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentContext, runInContext } from "../context.ts";
import { Fault } from "../fault.ts";
import { type Db, openDatabase } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { type Client, connect } from "../rpc.ts";
import type { Message } from "./bus.ts";
import { newestPerKey } from "./fact.ts";
import { header } from "./headers.ts";
import { factsService, hasPassed } from "./markers.ts";

const first = numberedTopic("owner.first.v1");
const second = numberedTopic("owner.second.v1");

let database: TestDatabase;
let owner: Db;
let reader: Db;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  database = await createFactDatabase();
  owner = database.open("owner");
  reader = database.open("reader");
});

afterEach(async () => {
  for (const it of running.splice(0).reverse()) await it.stop();
  await database.drop();
});

async function start(options: Partial<PipelineOptions> = {}): Promise<Pipeline> {
  const pipeline = await startPipeline({ owner, reader, topics: [first], ...options });
  running.push(pipeline);
  return pipeline;
}

const publish = (numbers: readonly number[], key = "k") =>
  owner.transaction((tx) =>
    tx.publish(
      first,
      numbers.map((number) => ({ key, number })),
    ),
  );

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const effects = () => effectsByKey(reader);
const countEffects = async () => (await reader.one<{ count: number }>(sql`select count(*) as count from effect`)).count;

describe("a fact", () => {
  it("acts once, and leaves the outbox", async () => {
    await start();
    await publish(upTo(1234));
    await owner.transaction((tx) => tx.retract(first, ["k"]));
    await eventually(() => isDrained(owner));
    expect(await effects()).toEqual({ k: [...upTo(1234), null] });
    expect(await reader.one(sql`select count(*) as rows from inbox`)).toEqual({ rows: 1235 });
  });

  it("that is a deletion says behind which states it was, if its owner does", async () => {
    const seen: (number | undefined)[] = [];
    await start({
      async apply(_tx, _topic, facts) {
        seen.push(...facts.map(({ deletedAt }) => deletedAt));
      },
    });
    await publish([1]);
    await owner.transaction((tx) => tx.retract(first, ["k"], { deletedAt: 77 }));
    await owner.transaction((tx) => tx.retract(first, ["k"]));
    await eventually(() => isDrained(owner));
    expect(seen).toEqual([undefined, 77, undefined]);
  });

  it("that was never committed never acts", async () => {
    await start();
    const failing = owner.transaction(async (tx) => {
      await tx.publish(first, [{ key: "k", number: 1 }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await publish([2]);
    await eventually(() => isDrained(owner));
    expect(await effects()).toEqual({ k: [2] });
  });

  it("acts in the trace that caused it", async () => {
    const seen: (string | undefined)[] = [];
    await start({
      async apply() {
        seen.push(currentContext().traceparent);
      },
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await runInContext({ traceparent }, () => publish([1]));
    await eventually(() => isDrained(owner));
    await publish([2]);
    await eventually(() => isDrained(owner));
    expect(seen).toEqual([traceparent, undefined]);
  });

  it("that was written by another process is noticed soon", async () => {
    await start();
    const took: number[] = [];
    for (const number of upTo(5)) {
      const payload = Buffer.from(JSON.stringify(["k", number]));
      await owner.run(sql`insert into outbox (topic, key, payload) values (${first.name}, 'k', ${payload})`);
      const written = performance.now();
      await eventually(() => isDrained(owner));
      took.push(performance.now() - written);
    }
    // The quickest: a busy machine holds up one or the other.
    expect(Math.min(...took)).toBeLessThan(1000);
    expect(await effects()).toEqual({ k: upTo(5) });
  });
});

describe("order", () => {
  it("is that of the commits, for each key, under concurrent writers", async () => {
    await start({ relay: { batchSize: 7 } });
    await owner.run(sql`create table entity (key text primary key, revision integer not null)`);
    const keys = ["a", "b", "c", "d", "e"];
    await owner.run(sql`insert into entity (key, revision) select key, 0 from unnest(${keys}::text[]) as key`);
    const write = async (key: string) =>
      owner.transaction(async (tx) => {
        const { revision } = await tx.one<{ revision: number }>(
          sql`update entity set revision = revision + 1 where key = ${key} returning revision`,
        );
        await tx.publish(first, [{ key, number: revision }]);
        if (Math.random() < 0.2) await sleep(Math.random() * 4);
      });
    const writer = async () => {
      for (let round = 0; round < 60; round += 1) await write(keys[Math.floor(Math.random() * keys.length)] ?? "a");
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    await eventually(() => isDrained(owner));
    const byKey = await effects();
    expect(Object.values(byKey).flat()).toHaveLength(480);
    for (const numbers of Object.values(byKey)) expect(numbers).toEqual(upTo(numbers.length));
  });

  it.each([
    ["while the outbox is clean", false],
    ["while an old snapshot keeps everything that was deleted", true],
  ])("does not lose what commits late with smaller ids, and nobody waits for it: %s", async (_name, holding) => {
    const admin = openDatabase({ url: database.url, schema: "owner", applicationName: "admin", log: quiet });
    running.push({ stop: () => admin.close() });
    const release = Promise.withResolvers<void>();
    const inSnapshot = Promise.withResolvers<void>();
    const snapshot = admin.transaction(async (tx) => {
      await tx.run(sql`set transaction isolation level repeatable read`);
      await tx.run(sql`select 1`);
      inSnapshot.resolve();
      if (holding) await release.promise;
    });
    await inSnapshot.promise;
    await start({ relay: { batchSize: 50 } });
    const late = Array.from({ length: 5 }, (_, index) => {
      const written = Promise.withResolvers<void>();
      const commit = Promise.withResolvers<void>();
      const done = owner.transaction(async (tx) => {
        await tx.publish(
          first,
          [1, 2].map((number) => ({ key: `late ${index}`, number })),
        );
        written.resolve();
        await commit.promise;
      });
      return { written: written.promise, commit: () => commit.resolve(), done };
    });
    await Promise.all(late.map(({ written }) => written));
    for (const start of [0, 1000, 2000, 3000]) await publish(upTo(1000).map((number) => start + number));
    await eventually(async () => (await countEffects()) === 4000);
    for (const { commit, done } of late) {
      commit();
      await done;
      await publish([4000 + (await countEffects())], "between");
    }
    await eventually(async () => (await isDrained(owner)) && (await countEffects()) === 4015);
    const { k, between, ...lates } = await effects();
    expect(k).toEqual(upTo(4000));
    expect(between).toEqual(between?.toSorted());
    expect(lates).toEqual(Object.fromEntries(late.map((_, index) => [`late ${index}`, [1, 2]])));
    release.resolve();
    await snapshot;
  });
});

describe("a consumer that cannot act now", () => {
  it.each([
    [new Fault("unavailable", "database_unavailable", "away"), [3]],
    [new Fault("conflict", "locked", "busy"), [3, 1]],
  ])("makes its facts wait and those of no other topic: %s", async (fault, sizes) => {
    let sick = true;
    const tries: number[] = [];
    await start({
      topics: [first, second],
      async apply(tx, topicName, facts) {
        await noteEffects(tx, topicName, facts);
        if (topicName !== first.name || !sick) return;
        tries.push(facts.length);
        throw fault;
      },
    });
    await publish([1, 2, 3]);
    await eventually(async () => tries.length >= 3);
    await publish([4]);
    await owner.transaction((tx) => tx.publish(second, [{ key: "other", number: 1 }]));
    await eventually(async () => (await countEffects()) === 1);
    expect(await effects()).toEqual({ other: [1] });
    // Without a database every fact would fail alone, too.
    expect(new Set(tries)).toEqual(new Set(sizes));
    sick = false;
    await eventually(() => isDrained(owner));
    expect(await effects()).toEqual({ k: [1, 2, 3, 4], other: [1] });
    expect(await reader.many(sql`select cause from dead_letter`)).toEqual([]);
  });

  it("because Postgres ends all its connections acts once in the end", async () => {
    const admin = openDatabase({ url: database.url, schema: "owner", applicationName: "admin", log: quiet });
    running.push({ stop: () => admin.close() });
    await start({ relay: { batchSize: 20 } });
    let sent = 0;
    let published = 0;
    let storms = 0;
    const isEnough = () => storms >= 10 && published > 100;
    const writing = async () => {
      for (; !isEnough(); await sleep(3)) {
        // Whether a commit whose connection was lost took effect is not known; a number of its own tells.
        sent += 1;
        await publish([sent]).then(
          () => (published += 1),
          () => {},
        );
      }
    };
    const storming = async () => {
      for (; !isEnough(); await sleep(150)) {
        await admin.run(sql`
          select pg_terminate_backend(pid, 5000) from pg_stat_activity
           where datname = current_database() and application_name in ('test-owner', 'test-reader')`);
        storms += 1;
      }
    };
    await Promise.all([writing(), storming()]);
    // A connection that was ended a moment ago may not have heard of it yet.
    await eventually(async () => {
      sent += 1;
      return publish([sent]).then(
        () => true,
        () => false,
      );
    });
    await eventually(async () => (await isDrained(owner).catch(() => false)) && (await countEffects()) > 0);
    const numbers = (await effects())["k"] ?? [];
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => Number(a) - Number(b)));
    expect(numbers.at(-1)).toBe(sent);
    expect(numbers.length).toBeGreaterThan(published);
  });
});

describe("a poisoned fact", () => {
  it("is parked with its cause; those before, beside and behind it act, in order", async () => {
    await start({
      async apply(tx, topicName, facts) {
        if (facts.some((fact) => fact.value?.number === 3)) throw new RangeError("number three of somebody's secrets");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2, 3, 4, 5]);
    await publish([6]);
    await eventually(() => isDrained(owner));
    expect(await effects()).toEqual({ k: [1, 2, 4, 5, 6] });
    const parked = await reader.many<{ cause: string; payload: Buffer }>(
      sql`select consumer, topic, key, payload, cause, fact_at <= parked_at as past from dead_letter`,
    );
    expect(parked).toEqual([
      {
        consumer: `reader ${first.name}`,
        topic: first.name,
        key: "k",
        payload: Buffer.from('["k",3]'),
        cause: expect.stringMatching(/^RangeError .*at /),
        past: true,
      },
    ]);
    expect(JSON.stringify(parked)).not.toContain("secrets");
  });

  it("names a fault by its kind and code, and a refusal of the database by its code", async () => {
    const causes = [new Fault("invalid", "no_such_thing", "there is no such thing"), sql`select 1 / 0`];
    await start({
      async apply(tx, _topic, [fact]) {
        const cause = causes[fact?.value?.number ?? 0];
        if (cause instanceof Fault) throw cause;
        await tx.run(cause ?? sql``);
      },
    });
    await publish([0]);
    await publish([1]);
    await eventually(() => isDrained(owner));
    const rows = await reader.many<{ cause: string }>(sql`select cause from dead_letter order by id`);
    expect(rows.map(({ cause }) => cause.replace(/ +at .*/s, ""))).toEqual([
      "invalid no_such_thing: there is no such thing",
      "error 22012",
    ]);
  });

  it("is parked in one group and acts in another", async () => {
    const pipeline = await start({
      async apply() {
        throw new Error("no");
      },
    });
    let acted = 0;
    await pipeline.bus.subscribe({
      group: "other",
      topic: first.name,
      async deliver(messages) {
        acted += messages.length;
      },
    });
    await publish([1]);
    await eventually(() => isDrained(owner));
    expect(acted).toBe(1);
    expect(await reader.one(sql`select count(*) as parked from dead_letter`)).toEqual({ parked: 1 });
  });

  it("waits to be parked while the database cannot take it, and is not lost", async () => {
    await reader.run(sql`alter table dead_letter rename to hidden`);
    await start({
      async apply(tx, topicName, facts) {
        if (facts.some((fact) => fact.value?.number === 1)) throw new Error("no");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2]);
    await sleep(1500);
    expect(await isDrained(owner)).toBe(false);
    expect(await effects()).toEqual({});
    await reader.run(sql`alter table hidden rename to dead_letter`);
    await eventually(() => isDrained(owner));
    expect(await effects()).toEqual({ k: [2] });
    expect(await reader.one(sql`select count(*) as parked from dead_letter`)).toEqual({ parked: 1 });
  });
});

describe("a message that no relay of ours wrote", () => {
  const at = String(Date.UTC(2026, 10, 21) * 1000);
  const good = (number: number, headers: Record<string, string> = {}): Message => ({
    key: "k",
    value: Buffer.from(JSON.stringify(["k", number])),
    headers: { [header.factId]: randomUUID(), [header.at]: at, ...headers },
  });

  const bad: Readonly<Record<string, Message>> = {
    "without an id": { ...good(2), headers: { [header.at]: at } },
    "with an id that is none": good(2, { [header.factId]: "../../etc/passwd" }),
    "without a time": { ...good(2), headers: { [header.factId]: randomUUID() } },
    "with a time that is none": good(2, { [header.at]: "yesterday" }),
    "with a time beyond all calendars": good(2, { [header.at]: "1e300" }),
    "that does not decode": { ...good(2), value: Buffer.from("{") },
    "with a key that Postgres has no room for": { ...good(2), key: "a\0b", value: Buffer.from("{") },
    "with a marker that is none": good(2, { [header.marker]: "now" }),
    "with nothing at all": { key: "", value: null, headers: {} },
  };

  it("is parked once, and those beside and behind it act", async () => {
    const names = Object.keys(bad);
    const topics = names.map((_, index) => numberedTopic(`owner.bad${index}.v1`));
    const { bus } = await start({ topics, apply: (tx, topicName, facts) => noteEffects(tx, topicName, facts) });
    await Promise.all(
      Object.values(bad).map(async (message, index) => {
        const name = topics[index]?.name ?? "";
        await bus.publish(name, [good(1), message, good(3)]);
        await bus.publish(name, [message, good(4)]);
      }),
    );
    const acted = await reader.many(sql`
      select topic, array_agg(number order by id) as numbers from effect group by topic order by topic`);
    const parked = await reader.many(
      sql`select topic, count(*) as parked from dead_letter group by topic order by topic`,
    );
    expect(acted.map((row, index) => [names[index], row])).toEqual(
      topics.map(({ name }, index) => [names[index], { topic: name, numbers: [1, 3, 4] }]),
    );
    expect(parked.map((row, index) => [names[index], row])).toEqual(
      topics.map(({ name }, index) => [names[index], { topic: name, parked: 1 }]),
    );
  });

  it("acts once, however often it stands in one batch or in many, and however its id is written", async () => {
    const { bus } = await start();
    const id = "ABCDEF01-2345-6789-abcd-ef0123456789";
    const message = good(1, { [header.factId]: id });
    await bus.publish(first.name, [message, message, good(2)]);
    await bus.publish(first.name, [{ ...message, headers: { ...message.headers, [header.factId]: id.toLowerCase() } }]);
    await Promise.all([1, 2, 3].map(() => bus.publish(first.name, [message])));
    expect(await effects()).toEqual({ k: [1, 2] });
  });

  it("acts once on both sides of midnight, for its day is its own", async () => {
    const { bus } = await start();
    const lastMoment = String(Date.UTC(2026, 10, 21) * 1000 - 1);
    const message = good(1, { [header.at]: lastMoment });
    await bus.publish(first.name, [message]);
    await bus.publish(first.name, [message, good(2)]);
    await bus.publish(first.name, [message]);
    expect(await effects()).toEqual({ k: [1, 2] });
    expect(await reader.many(sql`select fact_on from inbox order by fact_on`)).toEqual([
      { fact_on: "2026-11-20" },
      { fact_on: "2026-11-21" },
    ]);
  });
});

describe("markers", () => {
  const consumes = [first.name, second.name];

  /** FactsService of the owner of the topics or of their reader, as others call it. */
  function factsOf(name: "owner" | "reader", { bus }: Pipeline): Client<typeof FactsServiceService> {
    const [db, owns, reads] = name === "owner" ? [owner, consumes, []] : [reader, [], consumes];
    const registry = inProcess({ log: quiet });
    running.push({ stop: () => registry.close() });
    registry.serve(name, [factsService({ db, bus, group: name, owns, consumes: reads })]);
    return connect(FactsServiceService, registry.transportTo(name));
  }

  it("are passed when everything before them was consumed or parked, and not before", async () => {
    const release = Promise.withResolvers<void>();
    const pipeline = await start({
      topics: [first, second],
      async apply(tx, topicName, facts) {
        await release.promise;
        if (facts.some((fact) => fact.value?.number === 2)) throw new Error("poison");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2, 3]);
    await owner.transaction((tx) => tx.publish(second, [{ key: "other", number: 1 }]));
    const marked = await factsOf("owner", pipeline).markFacts({});
    const partitions = await pipeline.bus.partitions(first.name);
    expect(marked.partitions).toEqual(
      consumes.flatMap((topic) => Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))),
    );
    const facts = factsOf("reader", pipeline);
    const caughtUp = async () => (await facts.caughtUp(marked)).caughtUp;
    await sleep(100);
    expect(await caughtUp()).toBe(false);
    release.resolve();
    await eventually(caughtUp);
    expect(await effects()).toEqual({ k: [1, 3], other: [1] });
  });

  it("of a topic that a group does not read are not waited for, and one group's are not another's", async () => {
    const pipeline = await start({ topics: [first] });
    const marked = await factsOf("owner", pipeline).markFacts({});
    const passed = (group: string, read: readonly string[]) =>
      hasPassed(reader, { group, consumes: read, marker: marked.marker, partitions: marked.partitions });
    await eventually(() => passed("reader", [first.name]));
    expect(await passed("reader", consumes)).toBe(false);
    expect(await passed("another", [first.name])).toBe(false);
    expect(await passed("another", [])).toBe(true);
    expect(await passed("another", ["reader.third.v1"])).toBe(true);
  });

  it("of a service that owns nothing are passed at once", async () => {
    const pipeline = await start();
    const facts = factsOf("reader", pipeline);
    const marked = await facts.markFacts({});
    expect(marked.partitions).toEqual([]);
    expect(await facts.caughtUp(marked)).toEqual({ caughtUp: true });
  });
});

describe("newestPerKey", () => {
  it("keeps the last fact of each key", () => {
    const fact = (key: string, number: number | null) => ({
      id: randomUUID(),
      key,
      at: 0,
      value: number === null ? null : { key, number },
      deletedAt: undefined,
    });
    const facts = [fact("a", 1), fact("b", 1), fact("a", 2), fact("b", null)];
    expect(newestPerKey(facts)).toEqual([facts[2], facts[3]]);
    expect(newestPerKey([])).toEqual([]);
  });
});
