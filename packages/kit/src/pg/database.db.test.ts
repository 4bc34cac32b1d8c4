import { faultOf } from "@tessera/testkit/fault-of";
import { twoSchemas } from "@tessera/testkit/two-schemas";
import { describe, expect, it } from "vitest";
import { toTimestamp } from "./instants.ts";
import { roleOf } from "./provision.ts";
import { sql } from "./sql.ts";

const database = twoSchemas();
const { open } = database;

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
    await database.admin.run(sql`alter table alpha.changing alter column value type text`);
    expect(await db.transaction((tx) => tx.one(statement))).toEqual({ value: "7" });
    await database.admin.run(sql`alter table alpha.changing alter column value type integer using value::integer`);
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
    [
      "an instant of the year 9999 as int8",
      sql`select (extract(epoch from '9999-12-31 23:59:59Z'::timestamptz) * 1000000)::bigint as value`,
      253_402_300_799_000_000,
    ],
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
    await expect(db.one(sql`select 9007199254740993::bigint as value`)).rejects.toThrow(RangeError);
    await expect(db.one(sql`select array[1, 9007199254740993]::bigint[] as value`)).rejects.toThrow(RangeError);
    await expect(db.one(sql`select 'infinity'::timestamptz as value`)).rejects.toThrow(RangeError);
    expect(await db.one(sql`select 1 as value`)).toEqual({ value: 1 });
  });
});

describe("a role", () => {
  it("reaches its own schema and nothing else", async () => {
    const alpha = open();
    const beta = open({ schema: "beta", role: roleOf("beta") });
    await beta.run(sql`create table theirs (id integer)`);
    await beta.run(sql`insert into theirs (id) values (1)`);
    await database.admin.run(sql`create table public.everybodys (id integer)`);
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

describe("a client that vanished without a word", () => {
  it("is noticed by the server within a minute, so that no transaction waits for its locks any longer", async () => {
    // Through a socket file no client vanishes, and the server shows 0: what was asked for stands in the session's options.
    const { options } = await open().one<{ options: string }>(sql`
      select string_agg(name || '=' || reset_val, ' ' order by name) as options
        from pg_settings where name like 'tcp\\_%' and source = 'client'`);
    expect(options).toBe(
      "tcp_keepalives_count=3 tcp_keepalives_idle=15 tcp_keepalives_interval=5 tcp_user_timeout=30000",
    );
  });
});
