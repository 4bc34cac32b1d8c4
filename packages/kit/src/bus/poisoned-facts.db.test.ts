import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@tessera/testkit/eventually";
import { isDrained, noteEffects, numberedTopic } from "@tessera/testkit/fact-pipeline";
import { first, ownerAndReader } from "@tessera/testkit/owner-and-reader";
import { describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import { sql } from "../pg/sql.ts";
import type { Message } from "./bus.ts";
import { header } from "./headers.ts";

const database = ownerAndReader();
const { effects, publish, start } = database;

describe("a poisoned fact", () => {
  it("is parked with its cause; those before, beside and behind it act, in order", async () => {
    await start({
      async apply(tx, topicName, facts) {
        if (facts.some((fact) => fact.value?.number === 3)) throw new RangeError("number three of somebody's secrets");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2, 3, 4, 5]);
    await publish([6]);
    await eventually(() => isDrained(database.owner));
    expect(await effects()).toEqual({ k: [1, 2, 4, 5, 6] });
    const parked = await database.reader.many<{ cause: string; payload: Buffer }>(
      sql`select consumer, topic, key, payload, cause, fact_at <= parked_at as past from dead_letter`,
    );
    expect(parked).toEqual([
      {
        consumer: `reader ${first.name}`,
        topic: first.name,
        key: "k",
        payload: Buffer.from('["k",3]'),
        cause: expect.stringMatching(/^RangeError .*at /),
        past: true,
      },
    ]);
    expect(JSON.stringify(parked)).not.toContain("secrets");
  });

  it("names a fault by its kind and code, and a refusal of the database by its code", async () => {
    const causes = [new Fault("invalid", "no_such_thing", "there is no such thing"), sql`select 1 / 0`];
    await start({
      async apply(tx, _topic, [fact]) {
        const cause = causes[fact?.value?.number ?? 0];
        if (cause instanceof Fault) throw cause;
        await tx.run(cause ?? sql``);
      },
    });
    await publish([0]);
    await publish([1]);
    await eventually(() => isDrained(database.owner));
    const rows = await database.reader.many<{ cause: string }>(sql`select cause from dead_letter order by id`);
    expect(rows.map(({ cause }) => cause.replace(/ +at .*/s, ""))).toEqual([
      "invalid no_such_thing: there is no such thing",
      "error 22012",
    ]);
  });

  it("is parked in one group and acts in another", async () => {
    const pipeline = await start({
      async apply() {
        throw new Error("no");
      },
    });
    let acted = 0;
    await pipeline.bus.subscribe({
      group: "other",
      topic: first.name,
      async deliver(messages) {
        acted += messages.length;
      },
    });
    await publish([1]);
    await eventually(() => isDrained(database.owner));
    expect(acted).toBe(1);
    expect(await database.reader.one(sql`select count(*) as parked from dead_letter`)).toEqual({ parked: 1 });
  });

  it("waits to be parked while the database cannot take it, and is not lost", async () => {
    await database.reader.run(sql`alter table dead_letter rename to hidden`);
    await start({
      async apply(tx, topicName, facts) {
        if (facts.some((fact) => fact.value?.number === 1)) throw new Error("no");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2]);
    await sleep(1500);
    expect(await isDrained(database.owner)).toBe(false);
    expect(await effects()).toEqual({});
    await database.reader.run(sql`alter table hidden rename to dead_letter`);
    await eventually(() => isDrained(database.owner));
    expect(await effects()).toEqual({ k: [2] });
    expect(await database.reader.one(sql`select count(*) as parked from dead_letter`)).toEqual({ parked: 1 });
  });
});

describe("a message that no relay of ours wrote", () => {
  const at = String(Date.UTC(2026, 10, 21) * 1000);
  const good = (number: number, headers: Record<string, string> = {}): Message => ({
    key: "k",
    value: Buffer.from(JSON.stringify(["k", number])),
    headers: { [header.factId]: randomUUID(), [header.at]: at, ...headers },
  });

  const bad: Readonly<Record<string, Message>> = {
    "without an id": { ...good(2), headers: { [header.at]: at } },
    "with an id that is none": good(2, { [header.factId]: "../../etc/passwd" }),
    "without a time": { ...good(2), headers: { [header.factId]: randomUUID() } },
    "with a time that is none": good(2, { [header.at]: "yesterday" }),
    "with a time beyond all calendars": good(2, { [header.at]: "1e300" }),
    "that does not decode": { ...good(2), value: Buffer.from("{") },
    "with a key that Postgres has no room for": { ...good(2), key: "a\0b", value: Buffer.from("{") },
    "with a marker that is none": good(2, { [header.marker]: "now" }),
    "with nothing at all": { key: "", value: null, headers: {} },
  };

  it("is parked once, and those beside and behind it act", async () => {
    const names = Object.keys(bad);
    const topics = names.map((_, index) => numberedTopic(`owner.bad${index}.v1`));
    const { bus } = await start({ topics, apply: (tx, topicName, facts) => noteEffects(tx, topicName, facts) });
    await Promise.all(
      Object.values(bad).map(async (message, index) => {
        const name = topics[index]?.name ?? "";
        await bus.publish(name, [good(1), message, good(3)]);
        await bus.publish(name, [message, good(4)]);
      }),
    );
    const acted = await database.reader.many(sql`
      select topic, array_agg(number order by id) as numbers from effect group by topic order by topic`);
    const parked = await database.reader.many(
      sql`select topic, count(*) as parked from dead_letter group by topic order by topic`,
    );
    expect(acted.map((row, index) => [names[index], row])).toEqual(
      topics.map(({ name }, index) => [names[index], { topic: name, numbers: [1, 3, 4] }]),
    );
    expect(parked.map((row, index) => [names[index], row])).toEqual(
      topics.map(({ name }, index) => [names[index], { topic: name, parked: 1 }]),
    );
  });

  it("acts once, however often it stands in one batch or in many, and however its id is written", async () => {
    const { bus } = await start();
    const id = "ABCDEF01-2345-6789-abcd-ef0123456789";
    const message = good(1, { [header.factId]: id });
    await bus.publish(first.name, [message, message, good(2)]);
    await bus.publish(first.name, [{ ...message, headers: { ...message.headers, [header.factId]: id.toLowerCase() } }]);
    await Promise.all([1, 2, 3].map(() => bus.publish(first.name, [message])));
    expect(await effects()).toEqual({ k: [1, 2] });
  });

  it("acts once on both sides of midnight, for its day is its own", async () => {
    const { bus } = await start();
    const lastMoment = String(Date.UTC(2026, 10, 21) * 1000 - 1);
    const message = good(1, { [header.at]: lastMoment });
    await bus.publish(first.name, [message]);
    await bus.publish(first.name, [message, good(2)]);
    await bus.publish(first.name, [message]);
    expect(await effects()).toEqual({ k: [1, 2] });
    expect(await database.reader.many(sql`select fact_on from inbox order by fact_on`)).toEqual([
      { fact_on: "2026-11-20" },
      { fact_on: "2026-11-21" },
    ]);
  });
});
