import { setTimeout as sleep } from "node:timers/promises";
import { memoryBus } from "@tessera/engines/memory-bus";
import {
  askForRebuild,
  changeEntity,
  copyEntities,
  createCopy,
  createEntities,
  entityChanged,
  entityRebuild,
  readCopy,
  readEntities,
} from "@tessera/testkit/copied-entities";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { isDrained, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Bus, Delivery } from "./bus.ts";
import { nothingErased } from "./dead-letter.ts";
import { rebuildTopics } from "./rebuild-topics.ts";
import { startRelay } from "./relay.ts";
import { replayDeadLetters } from "./replay-dead-letters.ts";

const { signal } = new AbortController();
const emptyDatabase = await factDatabaseOfFile(async ({ open }) => {
  await createEntities(open("owner"));
  await createCopy(open("reader"));
});
let database: EmptiedDatabase;
let owner: Db;
let reader: Db;
let refused: (key: string) => boolean;
const undo: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  database = await emptyDatabase();
  owner = database.open("owner");
  reader = database.open("reader");
  refused = () => false;
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await database.close();
});

const consumer = () => copyEntities(reader, { refuse: (key) => refused(key) });

/** Starts what moves facts from the owner to its reader. */
async function connectReader(): Promise<Bus> {
  const bus = memoryBus([{ group: "reader", topic: entityChanged.name }]);
  await bus.subscribe({
    group: "reader",
    topic: entityChanged.name,
    deliver: (messages, stop) => consumer().deliver(messages, stop),
  });
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased });
  undo.push(async () => {
    await bus.close();
    await relay.stop();
  });
  return bus;
}

/** A job that does what rows ask for. */
function rebuilder(bus: Bus, options: { db?: Db; batchSize?: number } = {}) {
  return rebuildTopics({ db: owner, bus, rebuilds: [entityRebuild], log: quiet, batchSize: 7, ...options });
}

async function fill(count: number): Promise<void> {
  await owner.run(sql`
    insert into entity (key, text, revision)
    select 'entity ' || lpad(n::text, 5, '0'), 'text ' || n, nextval('revision_seq') from generate_series(1, ${count}::integer) as n`);
}

/** Lets the reader hold what the owner holds, and lets both forget how it got there. */
async function copyBehindTheBus(): Promise<void> {
  const states = await owner.many<{ key: string; text: string; revision: number }>(
    sql`select key, text, revision from entity`,
  );
  for (const { key, text, revision } of states)
    await reader.run(sql`insert into copy (key, text, revision) values (${key}, ${text}, ${revision})`);
}

const state = (id: string) =>
  owner.one<{
    written: number;
    expected: number;
    partitions: number | null;
    finished: boolean;
    cause: string | null;
  }>(sql`
    select written, expected, partitions, finished_at is not null as finished, cause from rebuild where id = ${id}`);

describe("a rebuild", () => {
  it("makes a copy whole that was emptied, though everything in it was consumed before", async () => {
    const bus = await connectReader();
    for (const number of [1, 2, 3]) await changeEntity(owner, `entity ${number}`, `text ${number}`);
    await eventually(() => isDrained(owner));
    await reader.run(sql`delete from copy`);
    const id = await askForRebuild(owner);
    await rebuilder(bus).run(signal);
    await eventually(() => isDrained(owner));
    expect(await readCopy(reader)).toEqual(await readEntities(owner));
    const partitions = await bus.partitions(entityChanged.name);
    expect(await state(id)).toEqual({ written: 3, expected: 3, partitions, finished: true, cause: null });
    const passed = sql`
      select consumer, topic, is_of_rebuild as "isOfRebuild", count(*) as partitions
        from passed_marker
       where marker = ${id}
       group by consumer, topic, is_of_rebuild`;
    expect(await reader.many(passed)).toEqual([
      { consumer: `reader ${entityChanged.name}`, topic: entityChanged.name, isOfRebuild: true, partitions },
    ]);
  });

  it("brings what was changed while its fact was lost, and removes what was removed", async () => {
    await fill(40);
    await copyBehindTheBus();
    await owner.run(sql`delete from entity where key like '%3'`);
    await owner.run(sql`update entity set text = 'changed', revision = nextval('revision_seq') where key like '%5'`);
    const bus = await connectReader();
    await askForRebuild(owner);
    await rebuilder(bus).run(signal);
    await eventually(() => isDrained(owner));
    expect(await readCopy(reader)).toEqual(await readEntities(owner));
  });

  it("is exact while everything changes", async () => {
    await fill(400);
    await copyBehindTheBus();
    await owner.run(sql`delete from entity where key like '%7'`);
    const bus = await connectReader();
    let writing = true;
    const writer = async (name: string) => {
      for (let round = 0; writing; round += 1) {
        const number = Math.floor(Math.random() * 900);
        await changeEntity(
          owner,
          `entity ${String(number).padStart(5, "0")}`,
          Math.random() < 0.4 ? null : `${name} ${round}`,
        );
      }
    };
    const writers = ["a", "b", "c"].map(writer);
    for (let round = 0; round < 3; round += 1) {
      const id = await askForRebuild(owner);
      const replicas = [rebuilder(bus), rebuilder(bus, { db: database.open("owner") })];
      for (let asked = 0; !(await state(id)).finished && asked < 100; asked += 1)
        await Promise.all(replicas.map((replica) => replica.run(signal)));
      expect((await state(id)).cause).toBeNull();
    }
    writing = false;
    await Promise.all(writers);
    await eventually(() => isDrained(owner));
    expect(await readCopy(reader)).toEqual(await readEntities(owner));
    expect(await reader.many(sql`select cause from dead_letter`)).toEqual([]);
  });

  it("waits for a change that took its revision before, and does not sweep it", async () => {
    const bus = await connectReader();
    const written = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const slow = owner.transaction(async (tx) => {
      await tx.run(sql`insert into entity (key, text, revision) values ('slow', 'text', nextval('revision_seq'))`);
      const [row] = await tx.many<{ revision: number }>(sql`select revision from entity where key = 'slow'`);
      await tx.publish(entityChanged, [{ key: "slow", text: "text", revision: row?.revision ?? 0 }]);
      written.resolve();
      await commit.promise;
    });
    await written.promise;
    const id = await askForRebuild(owner);
    const rebuilding = rebuilder(bus).run(signal);
    await sleep(300);
    expect((await state(id)).finished).toBe(false);
    commit.resolve();
    await Promise.all([slow, rebuilding]);
    await eventually(() => isDrained(owner));
    expect(await readCopy(reader)).toEqual({ slow: "text" });
  });

  it("goes on where another process ended", async () => {
    await fill(50);
    const stopping = new AbortController();
    let batches = 0;
    const dying = {
      ...entityRebuild,
      publishNext: async (...args: Parameters<typeof entityRebuild.publishNext>) => {
        batches += 1;
        if (batches === 4) stopping.abort();
        return entityRebuild.publishNext(...args);
      },
    };
    const bus = await connectReader();
    const id = await askForRebuild(owner);
    await rebuildTopics({ db: owner, bus, rebuilds: [dying], log: quiet, batchSize: 7 }).run(stopping.signal);
    expect(await state(id)).toMatchObject({ written: 28, finished: false });
    await rebuilder(bus).run(signal);
    expect(await state(id)).toMatchObject({ written: 50, finished: true });
    await eventually(() => isDrained(owner));
    expect(await readCopy(reader)).toEqual(await readEntities(owner));
  });

  it("does not end on a bus that has no such topic, or that cannot be asked", async () => {
    await fill(3);
    const answers = [0, "away", 2];
    const asking = memoryBus([]);
    const bus: Bus = {
      ...asking,
      async partitions() {
        const answer = answers.shift() ?? 2;
        if (answer === "away") throw new Fault("unavailable", "bus_unavailable", "no broker answers");
        return Number(answer);
      },
    };
    const id = await askForRebuild(owner);
    await rebuilder(bus).run(signal);
    expect(answers).toEqual([]);
    expect(await state(id)).toEqual({ written: 3, expected: 3, partitions: 2, finished: true, cause: null });
    expect(await owner.one(sql`select count(*) as count from outbox where marker = ${id}`)).toEqual({ count: 2 });
  });

  it("leaves what is written meanwhile a short way through the outbox", async () => {
    await fill(5000);
    const bus = memoryBus([{ group: "reader", topic: entityChanged.name }]);
    undo.push(() => bus.close());
    const id = await askForRebuild(owner);
    const stopping = new AbortController();
    const rebuilding = rebuilder(bus, { batchSize: 500 }).run(stopping.signal);
    await eventually(async () => (await state(id)).written >= 2000);
    await sleep(300);
    expect((await state(id)).written).toBe(2000);
    stopping.abort();
    await rebuilding;
  });

  it("that fails is given up, says why, and sweeps nothing", async () => {
    await fill(20);
    await copyBehindTheBus();
    await owner.run(sql`delete from entity where key like '%9'`);
    const bus = await connectReader();
    const broken = {
      ...entityRebuild,
      publishNext: async () => {
        throw new RangeError("no");
      },
    };
    const [failed, unknown] = [
      await askForRebuild(owner),
      (await owner.one<{ id: string }>(sql`insert into rebuild (topic) values ('owner.unknown.v1') returning id`)).id,
    ];
    await rebuildTopics({ db: owner, bus, rebuilds: [broken], log: quiet }).run(signal);
    expect(await state(failed)).toMatchObject({ finished: true, cause: expect.stringContaining("RangeError") });
    expect(await state(unknown)).toMatchObject({ finished: true, cause: "this service cannot rebuild the topic" });
    await eventually(() => isDrained(owner));
    expect(Object.keys(await readCopy(reader))).toHaveLength(20);
  });
});

describe("a sweep", () => {
  it("waits until facts of its rebuild that are parked have been replayed", async () => {
    await fill(20);
    await copyBehindTheBus();
    await owner.run(sql`delete from entity where key like '%9'`);
    const bus = await connectReader();
    refused = (key) => key.endsWith("5");
    await askForRebuild(owner);
    await rebuilder(bus).run(signal);
    await eventually(() => isDrained(owner));
    expect(Object.keys(await readCopy(reader))).toHaveLength(20);
    const parked = await reader.many<{ key: string; cause: string }>(
      sql`select key, cause from dead_letter order by id`,
    );
    expect(parked.map(({ cause }) => cause)).toEqual([
      "refused",
      "refused",
      expect.stringMatching(/^unmet facts_parked: /),
    ]);
    const job = replayDeadLetters({ db: reader, group: "reader", consumers: [consumer()], log: quiet });
    const askForAll = () => reader.run(sql`update dead_letter set replay_requested_at = now()`);
    await askForAll();
    await job.run(signal);
    expect(await reader.one(sql`select count(*) as count from dead_letter`)).toEqual({ count: 3 });
    refused = () => false;
    await askForAll();
    await job.run(signal);
    expect(await reader.many(sql`select key, cause from dead_letter`)).toEqual([]);
    expect(await readCopy(reader)).toEqual(await readEntities(owner));
  });

  it("comes with the last of all partitions, whichever process reads them and in whatever order", async () => {
    const partitions = 4;
    const bus: Bus = { ...memoryBus([]), partitions: async () => partitions };
    const replicas = Array.from({ length: partitions }, () => copyEntities(database.open("reader")));
    for (let round = 0; round < 12; round += 1) {
      await owner.run(sql`truncate entity`);
      await reader.run(sql`truncate copy`);
      await fill(20);
      await copyBehindTheBus();
      await owner.run(sql`delete from entity where key like '%9'`);
      await askForRebuild(owner);
      await rebuilder(bus).run(signal);
      const messages = await takeOutbox(partitions);
      const deliver = async (index: number) => {
        const own = messages.filter(({ partition }) => partition === index);
        // Facts and marker in one batch or in two: the process that reads them decides.
        const cut = Math.random() < 0.5 ? own.length : own.length - 1;
        for (const batch of [own.slice(0, cut), own.slice(cut)]) {
          if (batch.length > 0) await replicas[index]?.deliver(batch, signal);
        }
      };
      const last = round % partitions;
      const early = [0, 1, 2, 3].filter((index) => index !== last);
      if (round < partitions) {
        await Promise.all(early.map(deliver));
        expect(Object.keys(await readCopy(reader))).toHaveLength(20);
        await deliver(last);
      } else await Promise.all([0, 1, 2, 3].map(deliver));
      expect(await readCopy(reader)).toEqual(await readEntities(owner));
      // A message that comes again changes nothing.
      await Promise.all([0, 1, 2, 3].map(deliver));
      expect(await readCopy(reader)).toEqual(await readEntities(owner));
    }
  });

  it("with numbers that are none is parked, and nothing is removed", async () => {
    await fill(3);
    await copyBehindTheBus();
    const headers = { marker: "3f0d5a0e-6a5b-4f3e-9c53-0d1f0f3a5c11", "sweep-below": "all", "sweep-partitions": "1" };
    const message = { topic: entityChanged.name, partition: 0, key: "rebuild", value: new Uint8Array(), headers };
    await consumer().deliver([message], signal);
    expect(Object.keys(await readCopy(reader))).toHaveLength(3);
    expect(await reader.one(sql`select count(*) as count from dead_letter`)).toEqual({ count: 1 });
  });
});

/** Takes what a relay would publish, spread over partitions by key as a bus does. */
async function takeOutbox(partitions: number): Promise<Delivery[]> {
  const rows = await owner.many<{
    id: number;
    fact_id: string;
    key: string;
    partition: number | null;
    payload: Buffer | null;
    marker: string | null;
    headers: Record<string, string> | null;
    created_at: number;
  }>(sql`delete from outbox returning id, fact_id, key, partition, payload, marker, headers, created_at`);
  return rows
    .sort((one, other) => one.id - other.id)
    .map((row) => ({
      topic: entityChanged.name,
      key: row.key,
      partition: row.partition ?? (row.key.at(-1)?.charCodeAt(0) ?? 0) % partitions,
      value: row.payload,
      headers: {
        "fact-id": row.fact_id,
        "fact-at": String(row.created_at),
        ...(row.marker === null ? {} : { marker: row.marker }),
        ...row.headers,
      },
    }));
}
