import { randomUUID } from "node:crypto";
import { keepFactTables } from "@tessera/kit/bus/keep-tables";
import { runInContext } from "@tessera/kit/context";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answerOnce } from "./answer-once.ts";

let database: TestDatabase;
let db: Db;

beforeEach(async () => {
  database = await createFactDatabase();
  db = database.open("reader");
  await db.run(sql`create table made (id integer generated always as identity, name text not null)`);
});

afterEach(() => database.drop());

const method = {
  path: "/test.Things/Create",
  responseSerialize: (response: { id: number }) => Buffer.from(JSON.stringify(response)),
  responseDeserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as { id: number },
};

const create = (name: string) => (tx: Tx) =>
  tx.one<{ id: number }>(sql`insert into made (name) values (${name}) returning made.id`);

const request = <T>(requestId: string | undefined, work: () => T): T =>
  runInContext(requestId === undefined ? {} : { requestId }, work);

const countMade = async () => (await db.one<{ count: number }>(sql`select count(*) from made`)).count;

describe("answerOnce", () => {
  it("gives a repetition the response of the first, and does nothing again", async () => {
    const id = randomUUID();
    const first = await request(id, () => answerOnce(db, method, create("a")));
    expect(await request(id, () => answerOnce(db, method, create("a")))).toEqual(first);
    expect(await countMade()).toBe(1);
  });

  it("does the work of one of twenty that come at once, and all get its response", async () => {
    const id = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => request(id, () => answerOnce(db, method, create("a")))),
    );
    expect(new Set(responses.map((response) => response.id)).size).toBe(1);
    expect(await countMade()).toBe(1);
  });

  it("keeps nothing of work that failed: the next one is another try", async () => {
    const id = randomUUID();
    const failing = request(id, () =>
      answerOnce(db, method, async (tx) => {
        await create("a")(tx);
        throw new Error("no");
      }),
    );
    await expect(failing).rejects.toThrow("no");
    expect(await countMade()).toBe(0);
    await request(id, () => answerOnce(db, method, create("a")));
    expect(await countMade()).toBe(1);
  });

  it("tells requests apart, and the calls of one request", async () => {
    const id = randomUUID();
    await request(id, () => answerOnce(db, method, create("a")));
    await request(id, () => answerOnce(db, { ...method, path: "/test.Things/Other" }, create("b")));
    await request(randomUUID(), () => answerOnce(db, method, create("c")));
    await request(undefined, () => answerOnce(db, method, create("d")));
    await request(undefined, () => answerOnce(db, method, create("d")));
    expect(await countMade()).toBe(5);
  });

  it("remembers for longer than the day that a key holds, and then forgets", async () => {
    await request(randomUUID(), () => answerOnce(db, method, create("a")));
    const answered = async () => (await db.one<{ count: number }>(sql`select count(*) from answered_request`)).count;
    const in25Hours = Date.now() * 1000 + 25 * 3_600_000_000;
    await keepFactTables(db, { now: () => in25Hours });
    expect(await answered()).toBe(1);
    await keepFactTables(db, { now: () => in25Hours + 24 * 3_600_000_000 });
    expect(await answered()).toBe(0);
  });
});
