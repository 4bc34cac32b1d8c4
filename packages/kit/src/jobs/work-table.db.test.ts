import { countScannedRows } from "@tessera/testkit/count-scanned-rows";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { passTime } from "@tessera/testkit/finish-work";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db, Dedicated } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { defineWork, endWork, enqueueWork, findWork, json } from "./work.ts";
import * as reads from "./work-reads.ts";
import * as table from "./work-table.ts";

const kind = "count";
const mostTries = 3;
const count = defineWork(kind, {
  payload: json<number>(),
  result: json<string>(),
  leaseMs: 60_000,
  tries: mostTries,
  keepMs: 60_000,
  atOnce: 1,
});

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "owner", migrations: new URL("./", import.meta.url) }]);
  db = database.open("owner", { maxConnections: 20 });
  await db.run(sql`create table effect (id text not null)`);
});
afterAll(() => database.drop());
beforeEach(() => empty());

const empty = () => db.run(sql`with work as (delete from work) delete from effect`);
const enqueue = (ids: readonly string[], owner = "a", work = count) =>
  db.transaction((tx) =>
    enqueueWork(
      tx,
      work,
      ids.map((id, index) => ({ id, owner, payload: index })),
    ),
  );
const claim = (most = 1, on: Db = db) => table.claim(on, { kind, most, leaseMs: 60_000 });
const claimed = async () => {
  const [row] = await claim();
  if (row === undefined) throw new Error("nothing to claim");
  return { kind, id: row.id, token: row.token };
};
const effects = async () => (await db.many<{ id: string }>(sql`select id from effect order by id`)).map(({ id }) => id);
const numbers = (length: number) => Array.from({ length }, (_, index) => String(index));
const done = Buffer.from('"done"');

/** Does a piece of work as a worker does. */
const finish = (held: table.Claim) =>
  db.transaction(async (tx) => {
    if (!(await table.hold(tx, held))) return false;
    await tx.run(sql`insert into effect (id) values (${held.id})`);
    return table.succeed(tx, held, done);
  });

describe("what work was about is gone", () => {
  const before = () => Date.now() * 1000 + 60_000_000;

  it("so it ends, also while it runs, and its worker stores nothing", async () => {
    await enqueue(["x/1"]);
    await finish(await claimed());
    await enqueue(["x/2"]);
    const running = await claimed();
    await enqueue(["x/3", "y/1"]);
    expect(await endWork(db, count, { prefix: "x/", before: before() })).toEqual([
      { id: "x/1", result: "done" },
      { id: "x/2", result: undefined },
      { id: "x/3", result: undefined },
    ]);
    expect([await finish(running), await table.failTry(db, running, "late"), await effects()]).toEqual([
      false,
      undefined,
      ["x/1"],
    ]);
    for (const id of ["x/1", "x/2", "x/3"])
      expect(await findWork(db, count, id)).toEqual({ owner: "a", state: "expired" });
    expect(await findWork(db, count, "y/1")).toMatchObject({ state: "waiting" });
    expect(await endWork(db, count, { prefix: "x/", before: before() })).toEqual([]);
  });

  it("but not what was enqueued later", async () => {
    await enqueue(["x/1"]);
    const { now } = await db.one<{ now: number }>(sql`select min(work.enqueued_at) as now from work`);
    expect(await endWork(db, count, { prefix: "x/", before: now })).toEqual([]);
    expect(await findWork(db, count, "x/1")).toMatchObject({ state: "waiting" });
  });
});

describe("work that is enqueued", () => {
  it("twice under one id is done once, and begins when it is committed", async () => {
    await db.transaction(async (tx) => {
      await enqueueWork(tx, count, [{ id: "x", owner: "a", payload: 1 }]);
      expect(await claim()).toEqual([]);
    });
    await Promise.all([enqueue(["x"]), enqueue(["x", "y"]), enqueue(["y"], "b")]);
    expect((await claim(5)).map(({ id }) => id).sort()).toEqual(["x", "y"]);
    await finish({ kind, id: "x", token: 1 });
    await enqueue(["x"]);
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "succeeded", result: "done" });
    expect(await claim(5)).toEqual([]);
  });

  it("by an owner who has too much waiting is refused, also by many at a time, and by others is not", async () => {
    const few = { ...count, mostWaiting: 3 };
    const attempts = await Promise.allSettled(numbers(10).map((id) => enqueue([id], "a", few)));
    const refused = attempts.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(7);
    expect(refused[0]).toMatchObject({ reason: { kind: "exhausted", code: "too_much_work" } });
    await enqueue(["b"], "b", few);
    const [first] = await claim();
    await enqueue([first?.id ?? ""], "a", few);
    await enqueue(["more"], "a", few);
    await expect(enqueue(["too much"], "a", few)).rejects.toMatchObject({ kind: "exhausted" });
  });
});

describe("a claim", () => {
  it("takes each piece of work once for twenty workers", async () => {
    const ids = numbers(300);
    await enqueue(ids);
    const taken: string[] = [];
    await Promise.all(
      numbers(20).map(async () => {
        for (let rows = await claim(); rows.length > 0; rows = await claim()) taken.push(...rows.map(({ id }) => id));
      }),
    );
    // One that found every row held by others has stopped early; what it left, they have taken.
    expect(taken.sort()).toEqual([...ids].sort());
  });

  it("does not read the whole table, however much is in line", async () => {
    await db.run(sql`
      insert into work (kind, id, owner, turn, most_tries, keep, payload)
      select ${kind}, number, 'a', number, 1, interval '0', ''
        from generate_series(1, 3000) as number`);
    await db.run(sql`analyze work`);
    const scanned = await db.transaction((tx) =>
      countScannedRows(tx, "work", async () => {
        expect(await table.claim(tx, { kind, most: 8, leaseMs: 60_000 })).toHaveLength(8);
        const [next] = await table.claim(tx, { kind, most: 1, leaseMs: 60_000, except: ["b", "c"] });
        expect(next?.owner).toBe("a");
      }),
    );
    expect(scanned).toBe(0);
  });

  it("goes to owners in turn: a thousand pieces of one do not hold up the first of another", async () => {
    await enqueue(numbers(1000).map((id) => `a${id}`));
    await claim(10);
    await enqueue(["b0", "b1", "b2"], "b");
    await enqueue(["c0"], "c");
    const owners = [];
    for (let round = 0; round < 8; round += 1) owners.push(...(await claim()).map(({ owner }) => owner));
    expect(owners.join("")).toBe("bcababaa");
  });

  it("goes first to an owner of whom nothing runs: of another one, what runs was its turn", async () => {
    await enqueue(["a1"]);
    const running = await claimed();
    await enqueue(["a2", "a3"]);
    await enqueue(["b1", "b2"], "b");
    await enqueue(["c1"], "c");
    await finish(running);
    const owners = [];
    for (let round = 0; round < 5; round += 1) {
      const [row] = await claim();
      if (row === undefined) break;
      owners.push(row.owner);
      await finish({ kind, id: row.id, token: row.token });
    }
    expect(owners.join("")).toBe("bcaba");
  });

  it("goes to owners in turn also behind retries of one of them", async () => {
    await enqueue(numbers(50).map((id) => `a${id}`));
    const held = (await claim(50)).map(({ id, token }) => ({ kind, id, token }));
    for (const each of held) await table.failTry(db, each, "failed");
    await enqueue(["b0", "b1"], "b");
    await passTime(db);
    await table.moveDue(db);
    expect((await claim(4)).map(({ owner }) => owner).sort()).toEqual(["a", "a", "b", "b"]);
  });
});

describe("those who wait", () => {
  it("read how far it is, its result, and after a while that it has expired; later nothing", async () => {
    expect(await findWork(db, count, "x")).toBeUndefined();
    await enqueue(["x"]);
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "waiting" });
    const held = await claimed();
    await table.noteProgress(db, held, { done: 2, total: 5 });
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "running", done: 2, total: 5 });
    await finish(held);
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "succeeded", result: "done" });
    const pass = () => db.run(sql`update work set due_at = now()`);
    await pass();
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "expired" });
    await table.moveDue(db);
    expect(await db.one(sql`select state, payload, result from work`)).toEqual({
      state: "expired",
      payload: null,
      result: null,
    });
    await pass();
    await table.moveDue(db);
    expect(await findWork(db, count, "x")).toBeUndefined();
  });

  it("are shown why it failed only where that is meant for them", async () => {
    await enqueue(["hopeless", "unlucky"]);
    await table.fail(db, await claimed(), "sold out");
    for (let tried = 1; tried <= mostTries; tried += 1) {
      await table.failTry(db, await claimed(), "TypeError at x.ts:1");
      await passTime(db);
      await table.moveDue(db);
    }
    expect(await findWork(db, count, "hopeless")).toEqual({ owner: "a", state: "failed", cause: "sold out" });
    expect(await findWork(db, count, "unlucky")).toEqual({ owner: "a", state: "failed", cause: null });
    expect(await db.one(sql`select cause from work where id = 'unlucky'`)).toEqual({ cause: "TypeError at x.ts:1" });
  });

  it("read that it waits again when its lease has ended", async () => {
    await enqueue(["x"]);
    await claimed();
    await passTime(db);
    expect(await findWork(db, count, "x")).toEqual({ owner: "a", state: "waiting" });
  });
});

it("[D6.12] is under way while it is ready or runs, and not while it rests after a failure, or its process is gone", async () => {
  const leaseMs = 60_000;
  const isUnderWay = reads.askIfUnderWay(db, { kind, leaseMs });
  const seen = [await isUnderWay()];
  await enqueue(["1"]);
  seen.push(await isUnderWay());
  const held = await claimed();
  seen.push(await isUnderWay());
  await table.failTry(db, held, "the store is away");
  expect([...seen, await isUnderWay()]).toEqual([false, true, true, false]);
  await passTime(db);
  expect(await isUnderWay()).toBe(true);
  await table.moveDue(db);
  await claimed();
  expect(await isUnderWay()).toBe(true);
  // A process that begins now.
  const another = reads.askIfUnderWay(db, { kind, leaseMs });
  expect([await another(), await another()]).toEqual([false, false]);
});

it("what waits and what is being done is counted by kind, up to a limit, with the age of the oldest that waits", async () => {
  await enqueue(["x", "y", "z", "w"]);
  await claimed();
  await table.failTry(db, await claimed(), "failed");
  await db.run(sql`update work set enqueued_at = now() - interval '100 seconds' where id = 'x'`);
  await db.run(sql`update work set enqueued_at = now() - interval '50 seconds' where id = 'z'`);
  const measured = await reads.measure(db, { kinds: [kind, "other"], mostCounted: 2 });
  expect(measured).toEqual([
    { kind, waiting: 2, running: 1, bytes: 0, seconds: expect.any(Number) },
    { kind: "other", waiting: 0, running: 0, bytes: 0, seconds: 0 },
  ]);
  const [all] = await reads.measure(db, { kinds: [kind], mostCounted: 100 });
  expect(all).toMatchObject({ waiting: 3, running: 1 });
  expect(Math.floor(all?.seconds ?? 0)).toBe(50);
});

const acts = ["claim", "beat", "hold", "store", "end", "stumble", "fail", "give back", "cut"] as const;
type Act = (typeof acts)[number];

/** A worker of which every step is in the hands of the test; "cut" is its death, between any two others. */
class Puppet {
  readonly #connection: Dedicated;
  #held: table.Claim | undefined;
  #doing: "nothing" | "holds its row" | "has stored its effect" = "nothing";

  constructor(connection: Dedicated) {
    this.#connection = connection;
  }

  async act(act: Act): Promise<void> {
    const held = this.#held;
    if (act === "cut") await this.#cut();
    else if (held === undefined) {
      const [row] = act === "claim" ? await claim() : [];
      if (row !== undefined) this.#held = { kind, id: row.id, token: row.token };
    } else if (this.#doing === "nothing") await this.#unlessFenced(act, held);
    else if (act === "store" && this.#doing === "holds its row") {
      await this.#connection.run(sql`insert into effect (id) values (${held.id})`);
      this.#doing = "has stored its effect";
    } else if (act === "end" && this.#doing === "has stored its effect") {
      expect(await table.succeed(this.#connection, held, done)).toBe(true);
      await this.#connection.run(sql`commit`);
      await this.#cut();
    }
  }

  /** With the current token a worker may act; with an earlier one it changes nothing. */
  async #unlessFenced(act: Act, held: table.Claim): Promise<void> {
    const read = () =>
      db.one<{ token: number; state: string }>(sql`select work::text, token, state from work where id = ${held.id}`);
    const before = await read();
    const isCurrent = before.token === held.token && before.state === "running";
    if (act === "hold") {
      await this.#connection.run(sql`begin`);
      expect(await table.hold(this.#connection, held)).toBe(isCurrent);
      if (isCurrent) this.#doing = "holds its row";
      else await this.#cut();
      return;
    }
    if (act === "beat") expect(await table.beat(db, held, { leaseMs: 60_000 })).toBe(isCurrent);
    if (act === "stumble") expect((await table.failTry(db, held, "failed")) !== undefined).toBe(isCurrent);
    if (act === "fail") expect(await table.fail(db, held, "hopeless")).toBe(isCurrent);
    if (act === "give back") await table.giveBack(db, held);
    if (!isCurrent) expect(await read()).toEqual(before);
    if (["stumble", "fail", "give back"].includes(act)) await this.#cut();
  }

  async #cut(): Promise<void> {
    if (this.#doing !== "nothing") await this.#connection.run(sql`rollback`);
    this.#held = undefined;
    this.#doing = "nothing";
  }
}

/** Leases and rests that have ended are noticed; rows that a transaction holds are not touched. */
async function timePasses(): Promise<void> {
  await passTime(db);
  await table.moveDue(db);
}

describe("whatever dies between whatever steps", () => {
  const connections: Dedicated[] = [];
  beforeAll(async () => {
    for (let worker = 0; worker < 3; worker += 1) connections.push(await db.dedicated());
  });
  afterAll(async () => {
    for (const connection of connections) await connection.release();
  });

  it("work ends once: with its effect once, or failed without", async () => {
    const fewTries = 2;
    const worker = fc.nat(2);
    const step = fc.tuple(worker, fc.constantFrom(...acts)).map((each) => [each]);
    // A life up to any step, of which a part may be another's death or the end of a lease.
    const life = fc
      .tuple(worker, fc.integer({ min: 1, max: 4 }))
      .map(([who, steps]) =>
        (["claim", "hold", "store", "end"] as const).slice(0, steps).map((act) => [who, act] as const),
      );
    const time = fc.integer({ min: 1, max: 2 }).map((times) => Array.from({ length: times }, () => "time" as const));
    const script = fc.array(fc.oneof(step, life, time), { minLength: 8, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(script, async (steps) => {
        await empty();
        await enqueue(["x", "y"], "a", { ...count, tries: fewTries });
        const puppets = connections.map((connection) => new Puppet(connection));
        for (const each of steps.flat()) {
          if (each === "time") await timePasses();
          else await puppets[each[0]]?.act(each[1]);
        }
        for (const puppet of puppets) await puppet.act("cut");
        // From here on one worker is well: a lease and a rest later, all has ended.
        await timePasses();
        await timePasses();
        for (const row of await claim(2)) await finish({ kind, id: row.id, token: row.token });
        const rows = await db.many<{ id: string; state: string; tries: number }>(
          sql`select id, state, tries from work order by id`,
        );
        expect(rows.filter(({ state }) => state !== "succeeded" && state !== "failed")).toEqual([]);
        expect(rows.filter(({ tries }) => tries < 1 || tries > fewTries)).toEqual([]);
        expect(await effects()).toEqual(rows.filter(({ state }) => state === "succeeded").map(({ id }) => id));
      }),
      { numRuns: 150, plugins: [fc.interruptAfterTimeLimit(5000)] },
    );
  });
});
