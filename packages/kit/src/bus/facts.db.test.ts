import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@tessera/testkit/eventually";
import { isDrained, noteEffects, quiet } from "@tessera/testkit/fact-pipeline";
import { first, ownerAndReader, second } from "@tessera/testkit/owner-and-reader";
import { describe, expect, it } from "vitest";
import { currentContext, runInContext } from "../context.ts";
import { Fault } from "../fault.ts";
import { openDatabase } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { newestPerKey } from "./fact.ts";

const database = ownerAndReader();
const { countEffects, effects, publish, running, start } = database;

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("a fact", () => {
  it("acts once, and leaves the outbox", async () => {
    await start();
    await publish(upTo(1234));
    await database.owner.transaction((tx) => tx.retract(first, ["k"]));
    await eventually(() => isDrained(database.owner));
    expect(await effects()).toEqual({ k: [...upTo(1234), null] });
    expect(await database.reader.one(sql`select count(*) as rows from inbox`)).toEqual({ rows: 1235 });
  });

  it("that is a deletion says behind which states it was, if its owner does", async () => {
    const seen: (number | undefined)[] = [];
    await start({
      async apply(_tx, _topic, facts) {
        seen.push(...facts.map(({ deletedAt }) => deletedAt));
      },
    });
    await publish([1]);
    await database.owner.transaction((tx) => tx.retract(first, ["k"], { deletedAt: 77 }));
    await database.owner.transaction((tx) => tx.retract(first, ["k"]));
    await eventually(() => isDrained(database.owner));
    expect(seen).toEqual([undefined, 77, undefined]);
  });

  it("that was never committed never acts", async () => {
    await start();
    const failing = database.owner.transaction(async (tx) => {
      await tx.publish(first, [{ key: "k", number: 1 }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await publish([2]);
    await eventually(() => isDrained(database.owner));
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
    await eventually(() => isDrained(database.owner));
    await publish([2]);
    await eventually(() => isDrained(database.owner));
    expect(seen).toEqual([traceparent, undefined]);
  });

  it("that was written by another process is noticed", async () => {
    await start();
    for (const number of upTo(5)) {
      const payload = Buffer.from(JSON.stringify(["k", number]));
      await database.owner.run(sql`insert into outbox (topic, key, payload) values (${first.name}, 'k', ${payload})`);
      await eventually(() => isDrained(database.owner));
    }
    expect(await effects()).toEqual({ k: upTo(5) });
  });
});

describe("order", () => {
  it("is that of the commits, for each key, under concurrent writers", async () => {
    await start({ relay: { batchSize: 7 } });
    await database.owner.run(sql`create table entity (key text primary key, revision integer not null)`);
    const keys = ["a", "b", "c", "d", "e"];
    await database.owner.run(sql`insert into entity (key, revision) select key, 0 from unnest(${keys}::text[]) as key`);
    const write = async (key: string) =>
      database.owner.transaction(async (tx) => {
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
    await eventually(() => isDrained(database.owner));
    const byKey = await effects();
    expect(Object.values(byKey).flat()).toHaveLength(480);
    for (const numbers of Object.values(byKey)) expect(numbers).toEqual(upTo(numbers.length));
  });

  it.each([
    ["while the outbox is clean", false],
    ["while an old snapshot keeps everything that was deleted", true],
  ])("does not lose what commits late with smaller ids, and no reader waits for it: %s", async (_name, holding) => {
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
      const done = database.owner.transaction(async (tx) => {
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
    await eventually(async () => (await isDrained(database.owner)) && (await countEffects()) === 4015);
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
    await database.owner.transaction((tx) => tx.publish(second, [{ key: "other", number: 1 }]));
    await eventually(async () => (await countEffects()) === 1);
    expect(await effects()).toEqual({ other: [1] });
    // Without a database every fact would fail alone, too.
    expect(new Set(tries)).toEqual(new Set(sizes));
    sick = false;
    await eventually(() => isDrained(database.owner));
    expect(await effects()).toEqual({ k: [1, 2, 3, 4], other: [1] });
    expect(await database.reader.many(sql`select cause from dead_letter`)).toEqual([]);
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
    await eventually(async () => (await isDrained(database.owner).catch(() => false)) && (await countEffects()) > 0);
    const numbers = (await effects())["k"] ?? [];
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => Number(a) - Number(b)));
    expect(numbers.at(-1)).toBe(sent);
    expect(numbers.length).toBeGreaterThan(published);
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
