import { setTimeout as sleep } from "node:timers/promises";
import { faultOf } from "@tessera/testkit/fault-of";
import { named, twoSchemas } from "@tessera/testkit/two-schemas";
import { describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import type { Db, Tx } from "./database.ts";
import { sql } from "./sql.ts";

const { open } = twoSchemas();

/** A table with one counter, gone with the database. */
async function counter(db: Db): Promise<string> {
  const name = `counter_${process.hrtime.bigint()}`;
  await db.run({ text: `create table ${name} (id integer primary key, value integer not null)`, values: [] });
  await db.run({ text: `insert into ${name} (id, value) values (1, 0), (2, 0)`, values: [] });
  return name;
}

const read = (name: string, id = 1) => ({ text: `select value from ${name} where id = $1`, values: [id] });
const add = (name: string, id = 1) => ({ text: `update ${name} set value = value + 1 where id = $1`, values: [id] });

describe("transactions", () => {
  it("commit as one", async () => {
    const db = open();
    const name = await counter(db);
    const result = await db.transaction(async (tx) => {
      await tx.run(add(name, 1));
      expect(await db.one(read(name, 1))).toEqual({ value: 0 });
      await tx.run(add(name, 2));
      return "done";
    });
    expect(result).toBe("done");
    expect([await db.one(read(name, 1)), await db.one(read(name, 2))]).toEqual([{ value: 1 }, { value: 1 }]);
  });

  it.each([
    ["a bug", new TypeError("undefined is not a function")],
    ["a fault", new Fault("not_found", "list_not_found", "no such list")],
  ])("roll back on %s, which comes out as it was", async (_name, failure) => {
    const db = open({ maxConnections: 1 });
    const name = await counter(db);
    const { pid } = await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const outcome = db.transaction(async (tx) => {
      await tx.run(add(name));
      throw failure;
    });
    await expect(outcome).rejects.toBe(failure);
    expect(await db.one(read(name))).toEqual({ value: 0 });
    expect(await db.one(sql`select pg_backend_pid() as pid`)).toEqual({ pid });
  });

  it("roll back on a failing statement and leave its error", async () => {
    const db = open({ maxConnections: 1 });
    const name = await counter(db);
    const outcome = db.transaction(async (tx) => {
      await tx.run(add(name));
      await tx.run({ text: `insert into ${name} (id, value) values (1, 0)`, values: [] });
    });
    await expect(outcome).rejects.toMatchObject({ code: "23505" });
    expect(await db.one(read(name))).toEqual({ value: 0 });
  });

  it("refuse to pass for committed when a failed statement was ignored", async () => {
    const db = open({ maxConnections: 1 });
    const name = await counter(db);
    const outcome = db.transaction(async (tx) => {
      await tx.run(add(name));
      await tx.run(sql`select 1 / 0`).catch(() => {});
    });
    await expect(outcome).rejects.toThrow("went on after a failed statement");
    expect(await db.one(read(name))).toEqual({ value: 0 });
  });

  it("run statements that are begun together in the order they were begun, and fail with the first that fails", async () => {
    const db = open({ maxConnections: 1 });
    const name = await counter(db);
    const [, before] = await db.transaction((tx) =>
      Promise.all([tx.run(add(name)), tx.one(read(name)), tx.run(add(name))]),
    );
    expect(before).toEqual({ value: 1 });
    const outcome = db.transaction((tx) =>
      Promise.all([tx.run(add(name)), tx.run(sql`select 1 / 0`), tx.run(add(name)), tx.one(read(name))]),
    );
    await expect(outcome).rejects.toMatchObject({ code: "22012" });
    expect(await db.one(read(name))).toEqual({ value: 2 });
  });

  it("refuse statements after their end", async () => {
    const db = open({ maxConnections: 1 });
    let escaped: Tx | undefined;
    await db.transaction(async (tx) => {
      escaped = tx;
    });
    await expect(escaped?.one(sql`select 1`)).rejects.toThrow("after its end");
  });

  it("run in parallel without seeing each other's statements", async () => {
    const db = open({ maxConnections: 4 });
    const name = await counter(db);
    await Promise.all(
      Array.from({ length: 40 }, () =>
        db.transaction(async (tx) => {
          const { value } = await tx.one<{ value: number }>({ text: `${read(name).text} for update`, values: [1] });
          await sleep(Math.random() * 3);
          await tx.run({ text: `update ${name} set value = $1 where id = 1`, values: [value + 1] });
        }),
      ),
    );
    expect(await db.one(read(name))).toEqual({ value: 40 });
  });
});

describe("transactions that lose to another", () => {
  const repeatable = sql`set transaction isolation level repeatable read`;

  it("run again from the start when they could not be serialized", async () => {
    const db = open();
    const name = await counter(db);
    let outbox = 0;
    db.onOutbox(() => {
      outbox += 1;
    });
    let attempts = 0;
    await db.transaction(async (tx) => {
      attempts += 1;
      await tx.run(repeatable);
      await tx.one(read(name));
      if (attempts <= 2) await db.run(add(name));
      await tx.publish(named, [{ key: "a", value: 1 }]);
      await tx.run(add(name));
    });
    expect(attempts).toBe(3);
    expect(await db.one(read(name))).toEqual({ value: 3 });
    expect(outbox).toBe(1);
  });

  it("become a conflict when they lose every time", async () => {
    const db = open();
    const name = await counter(db);
    let attempts = 0;
    const outcome = db.transaction(async (tx) => {
      attempts += 1;
      await tx.run(repeatable);
      await tx.one(read(name));
      await db.run(add(name));
      await tx.run(add(name));
    });
    expect(await faultOf(outcome)).toMatchObject({ kind: "conflict", code: "concurrent_change", retryAfterMs: 1000 });
    expect(await db.one(read(name))).toEqual({ value: attempts });
    expect(attempts).toBe(5);
  });

  it("run again when they were the victim of a deadlock", async () => {
    const db = open();
    const name = await counter(db);
    const ready = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const inOrder = (first: number, second: number, index: number) =>
      db.transaction(async (tx) => {
        attempts += 1;
        await tx.run(add(name, first));
        ready[index]?.resolve();
        await Promise.all(ready.map(({ promise }) => promise));
        await tx.run(add(name, second));
      });
    await Promise.all([inOrder(1, 2, 0), inOrder(2, 1, 1)]);
    expect(attempts).toBe(3);
    expect([await db.one(read(name, 1)), await db.one(read(name, 2))]).toEqual([{ value: 2 }, { value: 2 }]);
  });

  it("that never end their quarrel over one row stay bounded: all twenty are counted", async () => {
    const db = open();
    const name = await counter(db);
    await Promise.all(Array.from({ length: 20 }, () => db.transaction((tx) => tx.run(add(name)))));
    expect(await db.one(read(name))).toEqual({ value: 20 });
  });
});

describe("waiting", () => {
  it("for a lock ends after three seconds as a conflict", async () => {
    const db = open({ maxConnections: 2 });
    const name = await counter(db);
    const release = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holder = db.transaction(async (tx) => {
      await tx.run(add(name));
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const started = Date.now();
    expect(await faultOf(db.run(add(name)))).toMatchObject({ kind: "conflict", code: "locked", retryAfterMs: 5000 });
    expect(Date.now() - started).toBeGreaterThan(2900);
    release.resolve();
    await holder;
    expect(await db.run(add(name))).toBe(1);
  });

  it("for a statement ends as a timeout, and its connection is good again", async () => {
    const db = open({ maxConnections: 1, statementTimeoutMs: 1000 });
    const name = await counter(db);
    expect(await faultOf(db.run(sql`select pg_sleep(20)`))).toMatchObject({
      kind: "timeout",
      code: "database_timeout",
    });
    expect(await db.one(sql`select 1 as value`)).toEqual({ value: 1 });
    const outcome = db.transaction(async (tx) => {
      await tx.run(add(name));
      await tx.run(sql`select pg_sleep(20)`);
    });
    expect(await faultOf(outcome)).toMatchObject({ kind: "timeout" });
    expect(await db.one(read(name))).toEqual({ value: 0 });
  });

  it("for a free connection ends as unavailable, unless one comes back in time", async () => {
    const db = open({ maxConnections: 1, statementTimeoutMs: 1000 });
    const until = Promise.withResolvers<void>();
    const holder = db.transaction(() => until.promise);
    const started = Date.now();
    expect(await faultOf(db.one(sql`select 1`))).toMatchObject({ kind: "unavailable", code: "database_busy" });
    expect(Date.now() - started).toBeGreaterThan(900);
    const waiting = db.one(sql`select 1 as value`);
    await sleep(50);
    until.resolve();
    expect(await waiting).toEqual({ value: 1 });
    await holder;
  });
});
