import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { crashingProgram, isWorkLeft, prepareCrashing } from "@tessera/testkit/crashing-work";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { eventually } from "@tessera/testkit/eventually";
import { finishWork, passTime, startTestWorkers } from "@tessera/testkit/finish-work";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { createLog } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { defineWork, enqueueWork, findWork, json } from "./work.ts";
import { type Effect, type Worker, WorkFailed, type WorkInHand, workOn } from "./work-on.ts";
import * as table from "./work-table.ts";
import type { RunningWorkers } from "./workers.ts";

const mebibyte = 1024 * 1024;

const copy = defineWork("copy", {
  payload: json<string>(),
  result: json<string>(),
  leaseMs: 60_000,
  tries: 3,
  keepMs: 60_000,
  atOnce: 2,
});

const copyBy = (run: (job: WorkInHand<string>) => Promise<Effect<string>>) => workOn(copy, run)({});

let database: TestDatabase;
let db: Db;
const running: RunningWorkers[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase([{ schema: "owner", migrations: new URL("./", import.meta.url) }]);
  db = database.open("owner");
  await db.run(sql`create table effect (id text not null)`);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map((workers) => workers.stop()));
  await database.drop();
});

const enqueue = (...ids: string[]) =>
  db.transaction((tx) =>
    enqueueWork(
      tx,
      copy,
      ids.map((id) => ({ id, owner: "a", payload: `payload of ${id}` })),
    ),
  );
const start = (worker: Worker, options: { pollMs?: number; on?: Db; metrics?: Metrics } = {}) => {
  const workers = startTestWorkers(options.on ?? db, [worker], options);
  running.push(workers);
  return workers;
};
const find = (id: string) => findWork(db, copy, id);
const stateIs = (id: string, state: string) => eventually(async () => (await find(id))?.state === state);
const effects = async () => (await db.many<{ id: string }>(sql`select id from effect order by id`)).map(({ id }) => id);

/** Does its work when it is let, if ever; `begun` counts the tries. */
function letGo(act: () => Promise<void> | void = () => {}) {
  const gate = Promise.withResolvers<void>();
  const state = { begun: 0, aborted: 0, go: gate.resolve };
  const worker = copyBy(async ({ id, payload, signal }) => {
    state.begun += 1;
    signal.addEventListener("abort", () => {
      state.aborted += 1;
    });
    await Promise.race([gate.promise, once(signal, "abort").then(() => Promise.reject(signal.reason))]);
    await act();
    return async (tx) => {
      await tx.run(sql`insert into effect (id) values (${id})`);
      return `done: ${payload}`;
    };
  });
  return { worker, state };
}

describe("a worker", () => {
  it("begins when work is committed, stores its effect with the end, and does no more than so many at a time", async () => {
    const { worker, state } = letGo();
    const listening = Promise.withResolvers<number>();
    const dedicated = async () => {
      const connection = await db.dedicated();
      const run: typeof connection.run = async (statement) => {
        listening.resolve(await connection.run(statement));
        return listening.promise;
      };
      return { ...connection, run };
    };
    start(worker, { on: { ...db, dedicated }, pollMs: 60_000 });
    await listening.promise;
    await enqueue("x", "y", "z");
    await eventually(async () => state.begun === 2);
    expect(await effects()).toEqual([]);
    state.go();
    for (const id of ["x", "y", "z"]) await stateIs(id, "succeeded");
    expect(await find("x")).toEqual({ owner: "a", state: "succeeded", result: "done: payload of x" });
    expect(await effects()).toEqual(["x", "y", "z"]);
  });

  it("stores no more files for an owner than it may have, however many are written at a time, until they expire", async () => {
    const most = 40 * mebibyte;
    const filing = { ...copy, atOnce: 4, files: { mostBytes: most, mostOfOne: 25 * mebibyte } };
    const ask = (owner: string, sizes: Readonly<Record<string, number>>) =>
      db.transaction((tx) =>
        enqueueWork(
          tx,
          filing,
          Object.entries(sizes).map(([id, size]) => ({ id, owner, payload: String(size), bytes: 1 })),
        ),
      );
    async function* content(size: number) {
      for (let written = 0; written < size; written += 1) yield new Uint8Array(mebibyte);
    }
    const kept = new Map<string, number>();
    const metrics = createMetrics();
    const worker = workOn(filing, async ({ id, payload, keepFile }: WorkInHand<string>) => {
      let bytes = 0;
      for await (const piece of keepFile(content(Number(payload)))) bytes += piece.length;
      return async () => {
        kept.set(id, bytes);
        return id;
      };
    })({});
    const ids = ["a1", "a2", "a3", "a4"];
    await ask("a", { a1: 20, a2: 20, a3: 20, a4: 20 });
    await ask("b", { b1: 20 });
    await ask("c", { c1: 26 });
    start(worker, { metrics });
    const isOver = async (id: string) => ["succeeded", "failed"].includes((await find(id))?.state ?? "");
    for (const id of [...ids, "b1", "c1"]) await eventually(() => isOver(id));
    const ofOne = ids.reduce((sum, id) => sum + (kept.get(id) ?? 0), 0);
    expect(ofOne).toBeGreaterThan(0);
    expect(ofOne).toBeLessThanOrEqual(most);
    expect(await find("b1")).toMatchObject({ state: "succeeded" });
    expect(await find("c1")).toMatchObject({ state: "failed", cause: "The file is larger than 25 MiB." });
    const failed = (await Promise.all(ids.map(find))).filter((found) => found?.state === "failed");
    for (const found of failed) expect(found).toMatchObject({ cause: expect.stringContaining("too much room") });
    await eventually(async () => /work_file_bytes\{[^}]*\} [1-9]/.test(await metrics.exposition()));
    await db.run(sql`update work set bytes = ${most} where id = 'a1'`);
    await expect(ask("a", { a5: 1 })).rejects.toMatchObject({ kind: "exhausted", code: "too_many_files" });
    await ask("b", { b2: 1 });
    await db.run(sql`update work set due_at = now() where owner = 'a'`);
    await eventually(async () => (await find("a1"))?.state === "expired");
    await table.moveDue(db);
    await ask("a", { a5: 1 });
    await eventually(() => isOver("a5"));
    expect(kept.get("a5")).toBe(mebibyte);
  });

  it("leaves room to other owners where each has a share", async () => {
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const shared = { ...copy, atOnceEach: 1 };
    const worker = workOn(shared, async ({ id }: WorkInHand<string>) => {
      begun.push(id);
      await gate.promise;
      return async () => id;
    })({});
    await enqueue("a1", "a2", "a3");
    start(worker);
    await eventually(async () => begun.length === 1);
    await db.transaction((tx) => enqueueWork(tx, shared, [{ id: "b1", owner: "b", payload: "" }]));
    await stateIs("b1", "running");
    expect(begun).toEqual(["a1", "b1"]);
    gate.resolve();
    for (const id of ["a1", "a2", "a3", "b1"]) await stateIs(id, "succeeded");
  });

  it("tries again what fails, as often as it may, and says once that it has failed", async () => {
    const lines: string[] = [];
    const log = createLog({ service: "test", destination: { write: (line) => lines.push(line) } });
    const tries: number[] = [];
    const worker = copyBy(async (job) => {
      tries.push(job.tries);
      throw new TypeError("a text that quotes a@b.example");
    });
    await enqueue("x");
    for (let tried = 0; tried < 4; tried += 1) {
      await finishWork(db, [worker], { log });
      await passTime(db);
      await db.run(sql`update work set turn = 1, due_at = null where state = 'waiting'`);
    }
    expect(tries).toEqual([1, 2, 3]);
    expect(await find("x")).toEqual({ owner: "a", state: "failed", cause: null });
    expect(await db.one(sql`select cause from work`)).toEqual({ cause: expect.stringMatching(/^TypeError +at /) });
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(["warn", "warn", "error"]);
  });

  it("that finds it hopeless fails at once, with a cause for those who wait and without any effect", async () => {
    const worker = copyBy(async () => async (tx) => {
      await tx.run(sql`insert into effect (id) values ('x')`);
      throw new WorkFailed("the quota is used up");
    });
    await enqueue("x");
    await finishWork(db, [worker]);
    expect(await find("x")).toEqual({ owner: "a", state: "failed", cause: "the quota is used up" });
    expect(await effects()).toEqual([]);
  });

  it("shows how often work has ended from its start, so that the first failure is an increase", async () => {
    const metrics = createMetrics();
    const worker = copyBy(() => Promise.reject(new WorkFailed("hopeless")));
    const ended = async () =>
      [...(await metrics.exposition()).matchAll(/^tessera_work_ended_total\{.*,state="(\w+)"\} (\d+)$/gm)].map(
        ([, state, count]) => `${state} ${count}`,
      );
    start(worker, { metrics });
    expect(await ended()).toEqual(["succeeded 0", "failed 0"]);
    await enqueue("1");
    await eventually(async () => (await ended()).includes("failed 1"));
    expect(await ended()).toEqual(["succeeded 0", "failed 1"]);
  });

  it("that stops gives its work back at once, and the try does not count", async () => {
    const [first, second] = [letGo(), letGo()];
    second.state.go();
    const stopping = start(first.worker);
    await enqueue("x");
    await eventually(async () => first.state.begun === 1);
    await stopping.stop();
    expect(await db.one(sql`select state, tries, turn from work`)).toEqual({ state: "waiting", tries: 0, turn: 1 });
    start(second.worker);
    await stateIs("x", "succeeded");
    expect(await effects()).toEqual(["x"]);
  });

  it("whose lease was taken over stores nothing, and hears of it by its next heartbeat", async () => {
    const slow = letGo();
    const shortly = { ...slow.worker, work: { ...slow.worker.work, leaseMs: 600 } };
    // What this process does not do is done by none: the lease is taken over by hand.
    const hearing = start(shortly, { pollMs: 60_000 });
    await enqueue("x");
    await eventually(async () => slow.state.begun === 1);
    await db.run(sql`update work set token = token + 1, due_at = now() + interval '1 minute'`);
    await eventually(async () => slow.state.aborted === 1);
    await hearing.stop();
    const deaf = letGo();
    const isDeaf = { ...db, run: async () => 1 };
    await enqueue("y");
    const others = start(deaf.worker, { on: isDeaf, pollMs: 60_000 });
    await eventually(async () => deaf.state.begun === 1);
    await db.run(sql`update work set token = token + 1 where id = 'y'`);
    deaf.state.go();
    await others.stop();
    expect(await effects()).toEqual([]);
    expect(await db.many(sql`select state, tries from work`)).toEqual([
      { state: "running", tries: 1 },
      { state: "running", tries: 1 },
    ]);
  });

  it("keeps its lease for as long as it is at work", async () => {
    const { worker, state } = letGo();
    const shortly = { ...worker, work: { ...worker.work, leaseMs: 300 } };
    start(shortly);
    start(shortly);
    await enqueue("x");
    await eventually(async () => state.begun === 1);
    await sleep(1000);
    state.go();
    await stateIs("x", "succeeded");
    expect(state.begun).toBe(1);
  });
});

it("work ends, once each, through processes that are killed again and again", async () => {
  await db.run(sql`drop table effect`);
  const total = 250;
  await prepareCrashing({ db, total });
  const countEnded = async () => (await db.one<{ count: number }>(sql`select count(*) as count from effect`)).count;
  for (let kills = 0; kills < 2; kills += 1) {
    const before = await countEnded();
    const programs = [startProgram(), startProgram()];
    await eventually(async () => (await countEnded()) > before);
    await sleep(Math.random() * 50);
    for (const { child } of programs) child.kill("SIGKILL");
    await Promise.all(programs.map(({ exited }) => exited));
  }
  // Otherwise they were killed with nothing left to do.
  expect(await isWorkLeft(db)).toBe(true);
  expect(await startProgram().exited).toBe(0);
  expect(await db.many(sql`select number from effect order by number`)).toEqual(
    Array.from({ length: total }, (_, number) => ({ number })),
  );
  expect(await db.many(sql`select state, count(*) as count from work group by state`)).toEqual([
    { state: "succeeded", count: total },
  ]);
});

function startProgram(): { child: ChildProcess; exited: Promise<number | null> } {
  const child = spawn(process.execPath, ["--conditions=source", crashingProgram], {
    env: { ...process.env, DATABASE_URL: database.url },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(child);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return { child, exited };
}
