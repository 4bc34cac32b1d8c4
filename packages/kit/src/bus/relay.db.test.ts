import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { effectsByKey, isDrained, numberedTopic, quiet, startPipeline } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Db, openDatabase } from "../pg/database.ts";
import { roleOf } from "../pg/provision.ts";
import { sql } from "../pg/sql.ts";
import type { Log } from "../telemetry/log.ts";
import type { Bus, Message } from "./bus.ts";
import { nothingErased } from "./dead-letter.ts";
import { type Relay, startRelay } from "./relay.ts";

const first = numberedTopic("owner.first.v1");
const second = numberedTopic("owner.second.v1");

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let owner: Db;
let admin: Db;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  database = await emptyDatabase();
  owner = database.open("owner");
  admin = openDatabase({ url: database.url, schema: "owner", applicationName: "admin", log: quiet });
});

afterEach(async () => {
  // A spy on the held clock would bring it back.
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const it of running.splice(0).reverse()) await it.stop();
  await admin.close();
  await database.close();
});

const publish = (numbers: readonly number[], topic = first, key = "k") =>
  owner.transaction((tx) =>
    tx.publish(
      topic,
      numbers.map((number) => ({ key, number })),
    ),
  );

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** The processes that hold the lead, by the name of their connection. */
async function leaders(): Promise<string[]> {
  const rows = await admin.many<{ name: string }>(sql`
    select pg_stat_activity.application_name as name
      from pg_locks
      join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
     where pg_locks.locktype = 'advisory' and pg_locks.granted
       and pg_stat_activity.datname = current_database()
     order by name`);
  return rows.map(({ name }) => name);
}

/** Ends every connection of a process. */
async function kill(name: string): Promise<void> {
  await admin.run(sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and application_name = ${name}`);
}

/** What one process of two replicas runs. */
async function replica(name: string): Promise<{ stop(): Promise<void> }> {
  const open = (schema: string) =>
    openDatabase({ url: database.url, schema, role: roleOf(schema), applicationName: name, log: quiet });
  const [itsOwner, itsReader] = [open("owner"), open("reader")];
  const pipeline = await startPipeline({
    owner: itsOwner,
    reader: itsReader,
    topics: [first],
    relay: { batchSize: 10 },
  });
  const stop = async () => {
    await pipeline.stop();
    await Promise.all([itsOwner.close(), itsReader.close()]);
  };
  running.push({ stop });
  return { stop };
}

/** A bus that does what it is told to. */
function toldBus(publishing: (topic: string, messages: readonly Message[]) => Promise<void>): Bus {
  return {
    publish: publishing,
    subscribe: async () => {},
    partitions: async () => 1,
    backlog: async () => [],
    close: async () => {},
  };
}

function startHere(
  bus: Bus,
  options: { log?: Log; batchSize?: number; onBatch?: (facts: number) => void } = {},
): Relay {
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, ...options });
  running.push(relay);
  return relay;
}

const numbersOf = (messages: readonly Message[]) =>
  messages.map(({ value }) => (value === null ? null : first.decode(value).number));

describe("two relays of one schema", () => {
  it("lead one after the other, however often the leader is killed: nothing is lost, nothing acts twice", async () => {
    await Promise.all([replica("one"), replica("two")]);
    await eventually(async () => (await leaders()).length > 0);
    const killed: string[] = [];
    let sent = 0;
    const isEnough = () => sent > 300 && killed.length >= 10 && new Set(killed).size === 2;
    const writing = async () => {
      while (!isEnough()) {
        await publish([sent + 1, sent + 2, sent + 3]);
        sent += 3;
      }
    };
    const killing = async () => {
      while (!isEnough()) {
        await sleep(Math.random() * 200);
        const names = await leaders();
        expect(names.length).toBeLessThanOrEqual(1);
        for (const name of names) {
          killed.push(name);
          await kill(name);
        }
      }
    };
    await Promise.all([writing(), killing()]);
    await eventually(() => isDrained(owner));
    const { k } = await effectsByKey(database.open("reader"));
    expect(k).toEqual(upTo(sent));
  });

  it("hand over when the leader stops", async () => {
    const names = ["one", "two", "three", "four"];
    let leader = await replica("one");
    await eventually(async () => (await leaders()).join() === "one");
    await publish([1]);
    await eventually(() => isDrained(owner));
    for (const [index, name] of names.slice(1).entries()) {
      const next = await replica(name);
      await leader.stop();
      await publish([index + 2]);
      await eventually(() => isDrained(owner));
      expect(await leaders()).toEqual([name]);
      leader = next;
    }
    expect(await effectsByKey(database.open("reader"))).toEqual({ k: [1, 2, 3, 4] });
  });

  it("do not stand in the way of another schema's", async () => {
    const reader = database.open("reader");
    const published: string[] = [];
    const bus = toldBus(async (topic) => {
      published.push(topic);
    });
    startHere(bus);
    running.push(startRelay({ db: reader, bus, log: quiet, isErased: nothingErased }));
    await publish([1]);
    await reader.transaction((tx) => tx.publish(numberedTopic("reader.third.v1"), [{ key: "k", number: 1 }]));
    await eventually(async () => published.length === 2);
    expect(published.toSorted()).toEqual([first.name, "reader.third.v1"]);
  });
});

describe("a bus that refuses a topic", () => {
  it("gets its facts later and in order, while other topics go on", async () => {
    const warnings: unknown[] = [];
    const log: Log = { ...quiet, warn: (_message, fields) => warnings.push(fields) };
    const received: Record<string, (number | null)[]> = { [first.name]: [], [second.name]: [] };
    let refusing = true;
    const moved: number[] = [];
    const bus = toldBus(async (topic, messages) => {
      if (refusing && topic === first.name) throw new Error("not this one");
      received[topic]?.push(...numbersOf(messages));
    });
    startHere(bus, { log, batchSize: 10, onBatch: (facts) => moved.push(facts) });
    await publish(upTo(25));
    await publish(upTo(25), second);
    await eventually(async () => received[second.name]?.length === 25);
    await publish([26, 27]);
    await publish([26, 27], second);
    await eventually(async () => received[second.name]?.length === 27);
    expect(received[first.name]).toEqual([]);
    expect(warnings[0]).toMatchObject({ schema: "owner", topic: first.name, error: { message: "not this one" } });
    refusing = false;
    await eventually(() => isDrained(owner));
    expect(received).toEqual({ [first.name]: upTo(27), [second.name]: upTo(27) });
    expect(moved.reduce((sum, facts) => sum + facts)).toBe(54);
  });

  it("is not asked in a hurry, however busy the outbox is", async () => {
    let asked = 0;
    const bus = toldBus(async () => {
      asked += 1;
      throw new Error("away");
    });
    startHere(bus);
    const started = performance.now();
    for (let published = 0; published < 100 || performance.now() - started < 1000; published += 1) await publish([1]);
    await eventually(async () => asked > 0);
    // Pauses double from 200 ms on: four of them take three seconds.
    expect(asked).toBeLessThan(6 + (performance.now() - started) / 1000);
  });
});

describe("a bus that does not answer", () => {
  it("holds up its topic alone, and stopping does not wait for it for ever", async () => {
    const answers: (() => void)[] = [];
    const received: (number | null)[] = [];
    const bus = toldBus(async (topic, messages) => {
      if (topic === second.name) received.push(...numbersOf(messages));
      else await new Promise<void>((resolve) => answers.push(resolve));
    });
    const relay = startHere(bus);
    await publish([1]);
    await publish([1], second);
    await publish([2]);
    for (const number of [2, 3, 4]) {
      await publish([number], second);
      await eventually(async () => received.includes(number));
    }
    expect(answers).toHaveLength(1);
    await relay.stop();
    expect(await owner.many(sql`select topic from outbox order by id`)).toEqual([
      { topic: first.name },
      { topic: first.name },
    ]);
    for (const answer of answers) answer();
  });

  it("is waited for when it answers soon after stopping began", async () => {
    const begun = Promise.withResolvers<void>();
    const bus = toldBus(async () => {
      begun.resolve();
      await sleep(500);
    });
    const relay = startHere(bus);
    await publish([1]);
    await begun.promise;
    await relay.stop();
    expect(await isDrained(owner)).toBe(true);
  });
});

describe("a bus that several processes may write to", () => {
  it("is taken over topic by topic before anything is read for it, and again after a failure", async () => {
    const said: string[] = [];
    let refusals = 1;
    const bus: Bus = {
      ...toldBus(async (topic, messages) => {
        said.push(`${topic} publishes ${messages.length}`);
        if (refusals-- > 0) throw new Error("another one has taken over");
      }),
      // What another process has published meanwhile is gone from the outbox when the claim holds.
      async claim(topic) {
        said.push(`${topic} is claimed`);
        await admin.run(sql`delete from outbox where outbox.id = (select min(outbox.id) from outbox)`);
      },
    };
    await publish(upTo(5));
    startHere(bus);
    await eventually(() => isDrained(owner));
    expect(said).toEqual([
      "owner.first.v1 is claimed",
      "owner.first.v1 publishes 4",
      "owner.first.v1 is claimed",
      // A batch that failed may have been too large: the next one is half as large.
      "owner.first.v1 publishes 2",
      "owner.first.v1 publishes 1",
    ]);
    await publish([6]);
    await eventually(() => isDrained(owner));
    expect(said.at(-1)).toBe("owner.first.v1 publishes 1");
  });
});

describe("a transaction that commits late", () => {
  it("comes before the next one of its key, however much came between and however long looking takes", async () => {
    const slow: Db = {
      ...owner,
      async dedicated() {
        const connection = await owner.dedicated();
        const many: typeof connection.many = async (statement) => {
          await sleep(100);
          return connection.many(statement);
        };
        return { ...connection, many };
      },
    };
    const received: string[] = [];
    const bus = toldBus(async (_topic, messages) => {
      for (const { key, value } of messages)
        received.push(`${key} ${value === null ? "" : first.decode(value).number}`);
    });
    running.push(startRelay({ db: slow, bus, log: quiet, isErased: nothingErased }));
    for (let round = 0; round < 5; round += 1) {
      await owner.transaction(async (tx) => {
        await tx.publish(first, [{ key: "late", number: 2 * round }]);
        await publish([round], first, "between");
        await eventually(async () => received.includes(`between ${round}`));
      });
      await publish([2 * round + 1], first, "late");
      await eventually(() => isDrained(owner));
    }
    expect(received.filter((line) => line.startsWith("late"))).toEqual(upTo(10).map((number) => `late ${number - 1}`));
  });
});

describe("a read that took long", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));

  /** Starts a relay whose first look at the outbox takes a minute on its clock, and waits for the pause behind it. */
  async function startStalled({ writers = [] }: { writers?: readonly Db[] } = {}): Promise<void> {
    let reads = 0;
    const dedicated = async () => {
      const connection = await owner.dedicated();
      const many: typeof connection.many = (statement) => {
        reads += 1;
        // The read before is that of refused facts.
        if (reads === 2) vi.advanceTimersByTime(60_000);
        return connection.many(statement);
      };
      return { ...connection, many };
    };
    const timers = vi.spyOn(globalThis, "setTimeout");
    running.push(
      startRelay({
        db: { ...owner, dedicated },
        writers,
        bus: toldBus(async () => {}),
        log: quiet,
        isErased: nothingErased,
      }),
    );
    await eventually(async () => timers.mock.calls.some(([, ms]) => ms === 2000));
  }

  it("delays facts of other processes, but not for long", async () => {
    await startStalled();
    const silent = openDatabase({ url: database.url, schema: "owner", applicationName: "other process", log: quiet });
    running.push({ stop: () => silent.close() });
    await silent.transaction((tx) => tx.publish(first, [{ key: "a", number: 1 }]));
    vi.advanceTimersByTime(2000);
    await eventually(() => isDrained(owner));
    expect(await isDrained(owner)).toBe(true);
  });

  it("does not delay facts of this process, whichever of its connections writes them", async () => {
    const other = openDatabase({ url: database.url, schema: "owner", applicationName: "urgent", log: quiet });
    running.push({ stop: () => other.close() });
    await startStalled({ writers: [other] });
    await other.transaction((tx) => tx.publish(first, [{ key: "a", number: 1 }]));
    await eventually(() => isDrained(owner));
    expect(await isDrained(owner)).toBe(true);
  });
});

describe("stopping", () => {
  it("leaves in the outbox what comes later, for the next process", async () => {
    const received: (number | null)[] = [];
    const bus = toldBus(async (_topic, messages) => {
      received.push(...numbersOf(messages));
    });
    const relay = startHere(bus);
    await publish([1]);
    await eventually(async () => received.length === 1);
    await relay.stop();
    expect(await leaders()).toEqual([]);
    await publish([2]);
    await sleep(150);
    expect(received).toEqual([1]);
    startHere(bus);
    await eventually(() => isDrained(owner));
    expect(received).toEqual([1, 2]);
  });
});
