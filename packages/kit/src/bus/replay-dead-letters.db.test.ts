import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Topic } from "@tessera/protos/topic";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { effectsByKey, type Numbered, noteEffects, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentContext } from "../context.ts";
import { Fault } from "../fault.ts";
import type { Db, Tx } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Delivery } from "./bus.ts";
import { consume, type OpenConsumer } from "./consume.ts";
import { nothingErased } from "./dead-letter.ts";
import type { Apply, Fact } from "./fact.ts";
import { header } from "./headers.ts";
import { replayDeadLetters } from "./replay-dead-letters.ts";

const entities = numberedTopic("owner.entities.v1");
const events: Topic<Numbered> = { ...numberedTopic("owner.events.v1"), retention: { kind: "days", days: 30 } };
const outside: Topic<Numbered> = {
  ...events,
  name: "owner.records.v1",
  fromOutside: { subject: () => "", place: () => undefined },
};
const at = Date.UTC(2026, 10, 21) * 1000;
const { signal } = new AbortController();

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let db: Db;
/** What the consumers do; a test that mends them replaces it. */
let act: (tx: Tx, facts: readonly Fact<Numbered>[]) => ReturnType<Apply<Numbered>>;

beforeEach(async () => {
  database = await emptyDatabase();
  db = database.open("reader");
  act = async (_tx, facts) => facts.map((fact) => ({ fact, cause: "broken" }));
});

afterEach(() => database.close());

function message(
  number: number | null,
  { topic = entities.name, key = "k", ...rest }: Partial<Delivery> = {},
): Delivery {
  const value = number === null ? null : Buffer.from(JSON.stringify([key, number]));
  return {
    topic,
    partition: 3,
    key,
    value,
    headers: { [header.factId]: randomUUID(), [header.at]: String(at) },
    ...rest,
  };
}

function consumers(on: Db = db): OpenConsumer[] {
  return [entities, events, outside].map((topic) =>
    consume(topic, (tx, facts) => act(tx, facts)).open({
      db: on,
      group: "reader",
      log: quiet,
      isErased: nothingErased,
      deps: undefined,
    }),
  );
}

async function deliver(...messages: readonly Delivery[]): Promise<void> {
  for (const one of messages)
    await consumers()
      .find(({ topic }) => topic === one.topic)
      ?.deliver([one], signal);
}

const note = (tx: Tx, facts: readonly Fact<Numbered>[]) => noteEffects(tx, "t", facts);
const askForAll = () => db.run(sql`update dead_letter set replay_requested_at = now()`);
const replay = (on: Db = db) =>
  replayDeadLetters({ db: on, group: "reader", consumers: consumers(on), log: quiet }).run(signal);
const left = () =>
  db.many<{ key: string; cause: string; tries: number; asked: boolean }>(sql`
    select key, cause, tries, replay_requested_at is not null as asked from dead_letter order by id`);

describe("a replay", () => {
  it("acts once, in the order in which facts were parked, on what was asked for alone", async () => {
    await deliver(message(1), message(2), message(3, { key: "other" }), message(null));
    act = note;
    await replay();
    expect(await left()).toHaveLength(4);
    await db.run(sql`update dead_letter set replay_requested_at = now() where key = 'k'`);
    await replay();
    await replay();
    expect(await effectsByKey(db)).toEqual({ k: [1, 2, null] });
    expect((await left()).map(({ key }) => key)).toEqual(["other"]);
  });

  it("sees the fact as it was, in its trace", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const sent = message(7);
    await deliver({ ...sent, headers: { ...sent.headers, traceparent } });
    let seen: unknown;
    act = async (_tx, facts) => {
      seen = { facts, ...currentContext() };
    };
    await askForAll();
    await replay();
    const id = sent.headers[header.factId];
    expect(seen).toEqual({ traceparent, facts: [{ id, key: "k", at, value: { key: "k", number: 7 } }] });
  });

  it("that fails leaves the fact with the new cause, and says how often and when", async () => {
    await deliver(message(1));
    act = async (tx, facts) => {
      await note(tx, facts);
      throw new Fault("unmet", "list_missing", "there is no such list");
    };
    await askForAll();
    await replay();
    act = async (tx, facts) => {
      await note(tx, facts);
      return facts.map((fact) => ({ fact, cause: "number: too small" }));
    };
    expect(await left()).toEqual([
      { key: "k", cause: "unmet list_missing: there is no such list", tries: 1, asked: false },
    ]);
    await askForAll();
    await replay();
    expect(await left()).toEqual([{ key: "k", cause: "number: too small", tries: 2, asked: false }]);
    expect(await effectsByKey(db)).toEqual({});
    expect(await db.one(sql`select tried_at is not null as tried from dead_letter`)).toEqual({ tried: true });
  });

  it("that takes too long has failed, and holds up no other", async () => {
    await deliver(message(1), message(2, { key: "other" }));
    act = async (tx, facts) => {
      if (facts[0]?.value?.number === 1) throw new Fault("timeout", "database_timeout", "too long");
      await note(tx, facts);
    };
    await askForAll();
    await replay();
    expect(await left()).toEqual([{ key: "k", cause: "timeout database_timeout: too long", tries: 1, asked: false }]);
    expect(await effectsByKey(db)).toEqual({ other: [2] });
  });

  it("waits for a database that is busy, the later facts of the key behind it, and others do not wait", async () => {
    await deliver(message(1), message(2), message(3, { key: "other" }));
    let busy = true;
    act = async (tx, facts) => {
      if (busy && facts[0]?.value?.number === 1) throw new Fault("conflict", "locked", "busy");
      await note(tx, facts);
    };
    await askForAll();
    await replay();
    expect(await effectsByKey(db)).toEqual({ other: [3] });
    expect((await left()).every(({ asked, tries }) => asked && tries === 0)).toBe(true);
    busy = false;
    await replay();
    expect(await effectsByKey(db)).toEqual({ k: [1, 2], other: [3] });
  });

  it("of a topic that is not consumed any more leaves the fact, and says so once", async () => {
    await deliver(message(1));
    await db.run(sql`update dead_letter set consumer = 'reader owner.gone.v1', topic = 'owner.gone.v1'`);
    for (const _time of [1, 2]) {
      await askForAll();
      await replay();
    }
    const cause = expect.stringMatching(/^not replayed, [^;]*; parked for broken$/);
    expect(await left()).toEqual([{ key: "k", cause, tries: 2, asked: false }]);
  });

  it("of what never was a fact acts on it under the name it was parked by", async () => {
    await deliver(message(1, { headers: {} }));
    act = note;
    await askForAll();
    await replay();
    await deliver(message(1, { headers: {} }));
    expect(await effectsByKey(db)).toEqual({ k: [1] });
  });
});

describe("a fact that was overtaken", () => {
  beforeEach(async () => {
    await deliver(
      message(1),
      message(null, { key: "removed" }),
      message(5, { topic: events.name }),
      message(6, { topic: outside.name }),
    );
    act = note;
    await deliver(
      message(2),
      message(2, { key: "removed" }),
      message(2, { topic: events.name }),
      message(2, { topic: outside.name }),
    );
    await db.run(sql`delete from effect`);
    await askForAll();
    await replay();
  });

  it("is superseded where facts are states: neither an old one nor a removal comes back", async () => {
    expect(await db.many(sql`select key from effect where key <> 'k'`)).toEqual([]);
    expect((await left()).filter(({ key }) => key === "removed")).toEqual([]);
  });

  it("acts where each fact counts, and stays where it would undo what came from outside", async () => {
    expect(await effectsByKey(db)).toEqual({ k: [5] });
    const cause = expect.stringContaining("unmet fact_overtaken");
    expect(await left()).toEqual([{ key: "k#", cause, tries: 1, asked: false }]);
  });
});

it("a replay and what comes behind it take turns: whatever wins, the newer state stays", async () => {
  await db.run(sql`create table held (key text primary key, number bigint not null)`);
  const keep = async (tx: Tx, facts: readonly Fact<Numbered>[]) => {
    for (const { key, value } of facts) {
      if (value === null) await tx.run(sql`delete from held where key = ${key}`);
      else
        await tx.run(sql`
          insert into held (key, number) values (${key}, ${value.number})
              on conflict (key) do update set number = excluded.number where held.number < excluded.number`);
    }
    await sleep(Math.random() * 4);
  };
  const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
  for (const key of keys) await deliver(message(1, { key }), message(null, { key })).then(() => {});
  await db.run(sql`delete from dead_letter where payload is not null`);
  act = keep;
  await askForAll();
  const other = database.open("reader");
  const newer = async () => {
    for (const key of keys.toReversed()) await deliver(message(2, { key }));
  };
  await Promise.all([replay(), replay(other), newer()]);
  for (let again = 0; again < 3; again += 1) await replay();
  expect(await left()).toEqual([]);
  expect(await db.one(sql`select count(*) as count from held where number = 2`)).toEqual({ count: keys.length });
});

it("two processes that replay never act twice, and keep the order of a key", async () => {
  const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
  await Promise.all(
    [0, 1, 2].map(async (key) => {
      for (const number of numbers.filter((each) => each % 3 === key))
        await deliver(message(number, { key: `key ${key}` }));
    }),
  );
  act = note;
  await askForAll();
  const replicas = [db, database.open("reader"), database.open("reader")];
  const work = async (on: Db) => {
    while ((await left()).length > 0) await replay(on);
  };
  await Promise.all(replicas.map(work));
  for (const [key, acted] of Object.entries(await effectsByKey(db)))
    expect(acted).toEqual(numbers.filter((each) => key === `key ${each % 3}`));
  expect(await db.one(sql`select count(*) as count from effect`)).toEqual({ count: 60 });
});
