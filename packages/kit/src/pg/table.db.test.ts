import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "./database.ts";
import { sql } from "./sql.ts";
import {
  bigint,
  bigints,
  boolean,
  bytea,
  copyTable,
  document,
  instant,
  json,
  rowsAs,
  table,
  text,
  texts,
} from "./table.ts";

let database: TestDatabase;
let db: Db;

const key = { organizer: text, id: bigint };
const things = copyTable("thing", {
  key,
  columns: {
    innerName: text.orNull,
    active: boolean,
    numbers: bigints,
    words: texts,
    about: json<{ readonly a: string | null } | null>(),
    startsFrom: instant.orNull,
    placedAt: instant,
    content: bytea.orNull,
    document,
  },
});
const notes = table("note", { key: { id: bigint }, columns: { text: text.orNull } });

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  db = database.open("alpha");
  await db.run(sql`
    create table thing (organizer text, id bigint, revision bigint not null, inner_name text, active boolean, numbers bigint[],
                        words text[], about jsonb, starts_from_at timestamptz, placed_at timestamptz, content bytea,
                        document jsonb not null, known_columns integer not null default 0, primary key (organizer, id))`);
  await db.run(sql`create table note (id bigint primary key, text text)`);
});
afterAll(() => database.drop());
beforeEach(() => db.run(sql`truncate thing, note`));

const thing = (id: number, revision: number, rest: object = {}) => ({
  organizer: "o",
  id,
  revision,
  active: true,
  numbers: [3, 1],
  words: ['a "quoted", {word}', ""],
  about: { a: null },
  placedAt: -1,
  document: Buffer.from('{"ü":1}'),
  ...rest,
});
const read = async () =>
  (await db.many<Record<string, unknown>>(sql`select ${things.selected} from thing order by thing.id`)).map(
    things.toRow,
  );

describe("a table of copies", () => {
  it("keeps every kind of column, and null where nothing was given", async () => {
    expect(await things.upsertNewer(db, [thing(1, 5), thing(2 ** 50, 1, { content: Buffer.from([0, 255]) })])).toBe(2);
    const whole = {
      ...{ organizer: "o", innerName: null, active: true, numbers: [3, 1], words: ['a "quoted", {word}', ""] },
      ...{ about: { a: null }, startsFrom: null, placedAt: -1, content: null, document: { ü: 1 } },
    };
    expect(await read()).toEqual([
      { ...whole, id: 1, revision: 5 },
      { ...whole, id: 2 ** 50, revision: 1, content: Buffer.from([0, 255]) },
    ]);
  });

  it("takes an empty document and empty lists as such", async () => {
    await things.upsertNewer(db, [thing(1, 1, { document: new Uint8Array(), numbers: [], words: [], about: null })]);
    expect(await read()).toMatchObject([{ document: {}, numbers: [], words: [], about: null }]);
  });

  it("replaces what is older, and nothing else", async () => {
    await things.upsertNewer(db, [thing(1, 5, { innerName: "five" }), thing(2, 5)]);
    expect(await things.upsertNewer(db, [thing(1, 5, { innerName: "same" }), thing(2, 4, { innerName: "old" })])).toBe(
      0,
    );
    expect(await things.upsertNewer(db, [thing(1, 6, { innerName: "six", startsFrom: 7 })])).toBe(1);
    expect(await read()).toMatchObject([
      { id: 1, revision: 6, innerName: "six", startsFrom: 7 },
      { id: 2, revision: 5, innerName: null },
    ]);
  });

  it("deletes by key, and what is older than a revision", async () => {
    await things.upsertNewer(db, [thing(1, 1), thing(2, 2), thing(3, 3), thing(1, 9, { organizer: "other" })]);
    expect(
      await things.delete(db, [
        { organizer: "o", id: 1 },
        { organizer: "nowhere", id: 2 },
      ]),
    ).toBe(1);
    expect(await things.deleteOlder(db, 3)).toBe(1);
    expect((await read()).map(({ organizer, id }) => [organizer, id])).toEqual([
      ["other", 1],
      ["o", 3],
    ]);
  });

  it("deletes a row that another transaction has just changed", async () => {
    await notes.upsert(db, [{ id: 1, text: "before" }]);
    let deleting: Promise<number> | undefined;
    await db.transaction(async (tx) => {
      await tx.run(sql`update note set text = 'after' where note.id = 1`);
      deleting = notes.delete(db, [{ id: 1 }, { id: 2 }]);
      await untilWaiting(db);
    });
    expect(await deleting).toBe(1);
    expect(await db.many(sql`select note.id from note`)).toEqual([]);
  });

  it("deletes any number of older rows, and no newer one between them", async () => {
    await db.run(sql`
      insert into thing (organizer, id, revision, document)
      select 'o' || n % 3, n, case when n % 1000 = 0 then 9 else 1 end, '{}' from generate_series(1, 12000) as n`);
    expect(await things.deleteOlder(db, 5)).toBe(11_988);
    expect((await read()).map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 12 }, (_, index) => 1000 * (index + 1)),
    );
    expect(await things.deleteOlder(db, 10)).toBe(12);
    expect(await things.deleteOlder(db, 10)).toBe(0);
  });

  it("ends with the newest state of each key, whatever order states come in", async () => {
    const states = fc.array(
      fc.record({ id: fc.integer({ min: 1, max: 3 }), revision: fc.integer({ min: 1, max: 9 }) }),
      {
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(states, async (sent) => {
        await db.run(sql`truncate thing`);
        for (const { id, revision } of sent) await things.upsertNewer(db, [thing(id, revision)]);
        const newest = Map.groupBy(sent, ({ id }) => id);
        const expected = [...newest].map(([id, all]) => [id, Math.max(...all.map(({ revision }) => revision))]);
        expect((await read()).map(({ id, revision }) => [id, revision])).toEqual(
          expected.sort(([a = 0], [b = 0]) => a - b),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe("a table", () => {
  it("tells how many rows a change has changed", async () => {
    await notes.upsert(db, [{ id: 1, text: "one" }, { id: 2 }]);
    expect(
      await notes.upsertChanged(db, [
        { id: 1, text: "one" },
        { id: 2, text: null },
      ]),
    ).toBe(0);
    expect(await notes.upsertChanged(db, [{ id: 1 }, { id: 2, text: "two" }, { id: 3 }])).toBe(3);
    expect(await notes.upsert(db, [{ id: 3 }])).toBe(1);
    expect(await db.many(sql`select ${notes.selected} from note order by id`)).toEqual([
      { id: 1, text: null },
      { id: 2, text: "two" },
      { id: 3, text: null },
    ]);
  });

  it("sends nothing where there are no rows", async () => {
    const closed: Db = { ...db, run: () => Promise.reject(new Error("a statement was sent")) };
    expect([await notes.upsert(closed, []), await notes.delete(closed, [])]).toEqual([0, 0]);
  });

  it("is checked by the compiler", async () => {
    const none = <T>(): T[] => [];
    const done = [
      // @ts-expect-error a column that must not be null is missing
      await things.upsert(db, none<{ organizer: string; id: number }>()),
      // @ts-expect-error a key has all of its columns
      await things.delete(db, none<{ organizer: string }>()),
      // @ts-expect-error a column has its type
      await notes.upsert(db, none<{ id: string }>()),
    ];
    expect(done).toEqual([0, 0, 0]);
  });
});

it("rows are a table of a statement, in their order where they are numbered", async () => {
  const rows = [
    { lastAt: 1_000_000, at: null, words: "a" },
    { lastAt: 2_000_000, words: "b" },
  ];
  const columns = { lastAt: instant, at: instant.orNull, words: text };
  const read = await db.many(sql`
    select sent.last_at, sent.at, sent.words, sent.ord
      from ${rowsAs("sent", columns, rows, { isNumbered: true })}
     order by sent.ord desc`);
  expect(read).toEqual([
    { last_at: 2_000_000, at: null, words: "b", ord: 2 },
    { last_at: 1_000_000, at: null, words: "a", ord: 1 },
  ]);
  expect(await db.many(sql`select sent.words from ${rowsAs("sent", columns, [])}`)).toEqual([]);
});
