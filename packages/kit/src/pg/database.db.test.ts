import { setTimeout as sleep } from "node:timers/promises";
import { topic } from "@tessera/protos/topic";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runInContext } from "../context.ts";
import { Fault } from "../fault.ts";
import { createLog } from "../log.ts";
import { type DatabaseOptions, type Db, openDatabase, type Tx } from "./database.ts";
import { toTimestamp } from "./instants.ts";
import { outboxRows } from "./outbox.ts";
import { roleOf } from "./provision.ts";
import { sql } from "./sql.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: TestDatabase;
let admin: Db;
const opened: Db[] = [];

beforeAll(async () => {
  // A folder without .sql files: the schema has what the kit itself needs, and nothing else.
  const migrations = new URL("./", import.meta.url);
  database = await createTestDatabase([
    { schema: "alpha", migrations },
    { schema: "beta", migrations },
  ]);
  admin = openDatabase({ url: database.url, schema: "public", applicationName: "admin", log });
});

afterAll(async () => {
  await admin.close();
  await database.drop();
});

// A pool closes when every client has come back: a leaked one makes this time out.
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
});

function open(options: Partial<DatabaseOptions> = {}): Db {
  const db = openDatabase({
    url: database.url,
    schema: "alpha",
    role: roleOf("alpha"),
    applicationName: "alpha",
    log,
    ...options,
  });
  opened.push(db);
  return db;
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Fault) return error;
  throw new TypeError("expected a fault", { cause: error });
}

/** A table with one counter, gone with the database. */
async function counter(db: Db): Promise<string> {
  const name = `counter_${process.hrtime.bigint()}`;
  await db.run({ text: `create table ${name} (id integer primary key, value integer not null)`, values: [] });
  await db.run({ text: `insert into ${name} (id, value) values (1, 0), (2, 0)`, values: [] });
  return name;
}

const read = (name: string, id = 1) => ({ text: `select value from ${name} where id = $1`, values: [id] });
const add = (name: string, id = 1) => ({ text: `update ${name} set value = value + 1 where id = $1`, values: [id] });

describe("statements", () => {
  it("are prepared once per connection and text, and run with a generic plan", async () => {
    const db = open({ maxConnections: 1 });
    for (const value of [1, 2, 3]) await db.one(sql`select ${value}::integer + 1 as prepared`);
    const rows = await db.many<{ generic_plans: number }>(
      sql`select generic_plans, custom_plans from pg_prepared_statements where statement like '%as prepared'`,
    );
    expect(rows).toEqual([{ generic_plans: 3, custom_plans: 0 }]);
  });

  it("that define things use up no name", async () => {
    const db = open({ maxConnections: 1 });
    await db.run(sql`create table defined_once (id integer)`);
    await db.run(sql`
      drop table defined_once`);
    const rows = await db.many(sql`select 1 from pg_prepared_statements where statement like '%defined' || '_once%'`);
    expect(rows).toEqual([]);
  });

  it("run unprepared when there are too many texts", async () => {
    const db = open({ maxConnections: 1 });
    for (let index = 0; index < 450; index += 1) {
      const row = await db.one<{ value: string }>({ text: `select $1::text as value /* ${index} */`, values: [index] });
      expect(row.value).toBe(String(index));
    }
    const { count } = await db.one<{ count: number }>(sql`select count(*) as count from pg_prepared_statements`);
    expect(count).toBe(400);
  });

  it("run again on columns that a migration has changed", async () => {
    const db = open({ maxConnections: 1 });
    await db.run(sql`create table changing (value integer)`);
    await db.run(sql`insert into changing (value) values (7)`);
    const statement = sql`select value from changing`;
    await db.one(statement);
    await admin.run(sql`alter table alpha.changing alter column value type text`);
    expect(await db.transaction((tx) => tx.one(statement))).toEqual({ value: "7" });
    await admin.run(sql`alter table alpha.changing alter column value type integer using value::integer`);
    expect(await faultOf(db.one(statement))).toMatchObject({ kind: "unavailable", retryAfterMs: 1000 });
    expect(await db.one(statement)).toEqual({ value: 7 });
  });

  it("say how many rows there were", async () => {
    const db = open();
    const two = sql`select generate_series(1, 2) as value`;
    const none = sql`select 1 as value where false`;
    expect(await db.many(two)).toEqual([{ value: 1 }, { value: 2 }]);
    expect(await db.run(two)).toBe(2);
    expect(await db.maybeOne(none)).toBeUndefined();
    expect(await db.one(sql`select null as value`)).toEqual({ value: null });
    await expect(db.one(two)).rejects.toThrow("expected one row, got 2");
    await expect(db.one(none)).rejects.toThrow("expected one row, got 0");
    await expect(db.maybeOne(two)).rejects.toThrow("expected at most one row, got 2");
  });
});

describe("values", () => {
  it.each([
    ["int8", sql`select 9007199254740991::bigint as value`, 9_007_199_254_740_991],
    ["count", sql`select count(*) as value from generate_series(1, 3)`, 3],
    ["int8[]", sql`select array[1, null, -9007199254740991]::bigint[] as value`, [1, null, -9_007_199_254_740_991]],
    ["timestamptz", sql`select '2026-11-21 12:00:00.123456+02'::timestamptz as value`, 1_795_255_200_123_456],
    ["timestamptz before 1970", sql`select '1969-12-31 23:59:59.999999Z'::timestamptz as value`, -1],
    ["timestamptz of the year 1", sql`select '0001-01-01 00:00:00Z'::timestamptz as value`, -62_135_596_800_000_000],
    ["timestamptz of the year 9999", sql`select '9999-12-31 23:59:59Z'::timestamptz as value`, 253_402_300_799_000_000],
    ["timestamptz[]", sql`select array['epoch', null]::timestamptz[] as value`, [0, null]],
    ["date", sql`select '2026-11-21'::date as value`, "2026-11-21"],
    ["date[]", sql`select array['2026-11-21', null]::date[] as value`, ["2026-11-21", null]],
    ["numeric", sql`select 12345678901234567890.10::numeric as value`, "12345678901234567890.10"],
    ["numeric[]", sql`select array[1.10, null]::numeric[] as value`, ["1.10", null]],
    ["text[]", sql`select array['a', null, 'NULL', '', '{"\\,'] as value`, ["a", null, "NULL", "", '{"\\,']],
    ["bytea", sql`select '\\x00ff'::bytea as value`, Buffer.from([0, 255])],
    ["jsonb", sql`select '{"a": [1, null]}'::jsonb as value`, { a: [1, null] }],
    ["boolean", sql`select true as value`, true],
  ])("read %s", async (_type, statement, value) => {
    expect(await open().one(statement)).toEqual({ value });
  });

  it.each([
    ["a text", 'it\'s "quoted" \\ 🎟 {,} $1', "text"],
    ["texts", ["", "NULL", "a,b", '{"x"}', "back\\slash", "🎟", "line\nbreak"], "text[]"],
    ["integers", [1, -5, 9_007_199_254_740_991], "bigint[]"],
    ["bytes", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), "bytea"],
    ["booleans", [true, false], "boolean[]"],
  ])("come back as they went: %s", async (_name, value, type) => {
    expect(await open().one({ text: `select $1::${type} as value`, values: [value] })).toEqual({ value });
  });

  it("travels as bytes and gaps in one array", async () => {
    const { value } = await open().one<{ value: Buffer[] }>(
      sql`select ${[Buffer.from([0, 92, 34, 255]), null, Buffer.alloc(0)]}::bytea[] as value`,
    );
    expect(value).toEqual([Buffer.from([0, 92, 34, 255]), null, Buffer.alloc(0)]);
  });

  it("keeps instants to the microsecond on the way in and out", async () => {
    const db = open();
    const instants = [0, -1, 1, 1_795_255_200_123_456, -62_135_596_800_000_000, 253_402_300_799_000_000];
    const { value } = await db.one<{ value: number[] }>(
      sql`select ${instants.map(toTimestamp)}::timestamptz[] as value`,
    );
    expect(value).toEqual(instants);
  });

  it("refuses what a number cannot hold", async () => {
    const db = open({ maxConnections: 1 });
    await expect(db.one(sql`select 9007199254740992::bigint as value`)).rejects.toThrow(RangeError);
    await expect(db.one(sql`select array[1, 9007199254740993]::bigint[] as value`)).rejects.toThrow(RangeError);
    await expect(db.one(sql`select 'infinity'::timestamptz as value`)).rejects.toThrow(RangeError);
    expect(await db.one(sql`select 1 as value`)).toEqual({ value: 1 });
  });
});

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
    const tookMs = Date.now() - started;
    expect(tookMs).toBeGreaterThan(2900);
    // Half of what a statement has, so that it was the lock that took too long.
    expect(tookMs).toBeLessThan(15_000);
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

describe("a role", () => {
  it("reaches its own schema and nothing else", async () => {
    const alpha = open();
    const beta = open({ schema: "beta", role: roleOf("beta") });
    await beta.run(sql`create table theirs (id integer)`);
    await beta.run(sql`insert into theirs (id) values (1)`);
    await admin.run(sql`create table public.everybodys (id integer)`);
    const denied = { code: "42501" };
    await expect(alpha.many(sql`select id from beta.theirs`)).rejects.toMatchObject(denied);
    await expect(alpha.run(sql`insert into beta.outbox (topic, key) values ('t', 'k')`)).rejects.toMatchObject(denied);
    await expect(alpha.many(sql`select id from public.everybodys`)).rejects.toMatchObject(denied);
    await expect(alpha.run(sql`create table public.mine (id integer)`)).rejects.toMatchObject(denied);
    await expect(alpha.run(sql`create schema mine`)).rejects.toMatchObject(denied);
    await expect(alpha.many(sql`select id from theirs`)).rejects.toMatchObject({ code: "42P01" });
    expect(await beta.many(sql`select id from theirs`)).toEqual([{ id: 1 }]);
  });

  it("has the functions of the extension that every service may use", async () => {
    expect(await open().one(sql`select similarity('Maier', 'Meier') > 0.2 as similar`)).toEqual({ similar: true });
  });

  it("keeps its settings beside those of the URL", async () => {
    const settings = sql`select current_user as role, current_setting('search_path') as path, current_setting('work_mem') as memory`;
    const expected = { role: roleOf("alpha"), path: "alpha,public" };
    const url = `${database.url}${database.url.includes("?") ? "&" : "?"}options=-c%20work_mem%3D7MB`;
    expect(await open({ url }).one(settings)).toEqual({ ...expected, memory: "7MB" });
    expect(await open().one(settings)).toMatchObject(expected);
  });

  it("works in UTC, whatever the time zone of the machine", async () => {
    const row = await open().one(
      sql`select '2026-06-01 12:00'::timestamptz as value, current_setting('timezone') as zone`,
    );
    expect(row).toEqual({ value: Date.UTC(2026, 5, 1, 12) * 1000, zone: "UTC" });
  });
});

const named = topic<{ key: string; value: number }>(
  "alpha.named.v1",
  {
    encode: (fact) => ({ finish: () => Buffer.from(JSON.stringify(fact)) }),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as { key: string; value: number },
  },
  { owner: "alpha", partitions: 1, retention: { kind: "compacted" }, personalData: {}, key: (fact) => fact.key },
);

describe("a client that vanished without a word", () => {
  it("is noticed by the server within a minute, so that nobody waits for its locks any longer", async () => {
    // Through a socket file nobody vanishes, and the server shows 0: what was asked for stands in the session's options.
    const { options } = await open().one<{ options: string }>(sql`
      select string_agg(name || '=' || reset_val, ' ' order by name) as options
        from pg_settings where name like 'tcp\\_%' and source = 'client'`);
    expect(options).toBe(
      "tcp_keepalives_count=3 tcp_keepalives_idle=15 tcp_keepalives_interval=5 tcp_user_timeout=30000",
    );
  });
});

describe("the outbox", () => {
  const rows = sql`select topic, key, payload, traceparent from outbox order by id`;

  it("holds facts in their order, with the trace that caused them, and tombstones", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const facts = Array.from({ length: 300 }, (_, value) => ({ key: `${(value * 7) % 300} 🎟`, value }));
    await runInContext({ traceparent }, () => db.transaction((tx) => tx.publish(named, facts)));
    await db.transaction(async (tx) => {
      await tx.retract(named, ["gone", "gone too"]);
      await tx.publish(named, []);
      await tx.retract(named, []);
    });
    const written = await db.many<{ key: string; payload: Buffer | null; traceparent: string | null }>(rows);
    expect(written).toHaveLength(302);
    expect(written.slice(0, 300).map(({ payload }) => named.decode(payload ?? Buffer.alloc(0)))).toEqual(facts);
    expect(new Set(written.slice(0, 300).map((row) => row.traceparent))).toEqual(new Set([traceparent]));
    expect(written.slice(300)).toEqual(
      ["gone", "gone too"].map((key) => ({ topic: named.name, key, payload: null, traceparent: null })),
    );
  });

  it("is announced after the commit, and only then", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    const seen: number[] = [];
    const heard = Promise.withResolvers<void>();
    db.onOutbox(() => {
      void db.many(rows).then((all) => {
        seen.push(all.length);
        heard.resolve();
      });
    });
    const failing = db.transaction(async (tx) => {
      await tx.publish(named, [{ key: "a", value: 1 }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await db.transaction((tx) => tx.run(sql`select 1`));
    await db.transaction((tx) => tx.publish(named, [{ key: "a", value: 1 }]));
    await heard.promise;
    expect(seen).toEqual([1]);
  });

  it("is announced for rows inside of another statement too, in a transaction or not", async () => {
    const db = open();
    await db.run(sql`delete from outbox`);
    let announced = 0;
    db.onOutbox(() => {
      announced += 1;
    });
    const facts = ["a", "b", "c"].map((key) => ({ key, payload: Buffer.from(key) }));
    const within = (chosen: number) => sql`
      with chosen as (
        select ${chosen}::bigint as ord
      ), published as (
        ${outboxRows("t", facts, { among: sql`join chosen on chosen.ord = fact.ord` })}
      )
      select chosen.ord from chosen`;
    expect(await db.many(within(2))).toEqual([{ ord: 2 }]);
    expect(announced).toBe(1);
    await db.transaction((tx) => tx.many(within(3)));
    expect(announced).toBe(2);
    // Prepared by now, and known by its name.
    await db.many(within(1));
    expect(announced).toBe(3);
    expect(await db.many(rows)).toMatchObject([{ key: "b" }, { key: "c" }, { key: "a" }]);
    await db.run(sql`select count(*) from outbox`);
    expect(announced).toBe(3);
  });
});
