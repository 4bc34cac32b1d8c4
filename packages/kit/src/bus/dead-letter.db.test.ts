import { randomUUID } from "node:crypto";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { effectsByKey, type Numbered, noteEffects, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import type { Delivery } from "./bus.ts";
import { consume } from "./consume.ts";
import { nothingErased } from "./dead-letter.ts";
import type { Apply } from "./fact.ts";
import { header } from "./headers.ts";

const own = numberedTopic("owner.first.v1");
const outside = { ...numberedTopic("owner.records.v1"), fromOutside: { subject: () => "", place: () => undefined } };
const at = Date.UTC(2026, 10, 21) * 1000;

const emptyDatabase = await factDatabaseOfFile();
let database: EmptiedDatabase;
let reader: Db;

beforeEach(async () => {
  database = await emptyDatabase();
  reader = database.open("reader");
});

afterEach(() => database.close());

/** A message with the number; `headers` replace those of a fact. */
function message(
  topic: string,
  number: number,
  { key = "k", headers = { [header.factId]: randomUUID(), [header.at]: String(at) }, ...rest }: Partial<Delivery> = {},
): Delivery {
  return { topic, partition: 0, key, value: Buffer.from(JSON.stringify([key, number])), headers, ...rest };
}

function deliverTo(topic: typeof own, apply: Apply<Numbered>, db: Db = reader) {
  const consumer = consume(topic, apply).open({
    db,
    group: "reader",
    log: quiet,
    isErased: nothingErased,
    deps: undefined,
  });
  return (messages: readonly Delivery[]) => consumer.deliver(messages, new AbortController().signal);
}

const parked = () =>
  reader.many<{ key: string; cause: string; overtaken: boolean }>(
    sql`select key, cause, overtaken from dead_letter order by id`,
  );

describe("a fact that its consumer refuses", () => {
  const refuseOdd: Apply<Numbered> = async (tx, facts) => {
    const isOdd = (fact: (typeof facts)[number]) => (fact.value?.number ?? 0) % 2 === 1;
    await noteEffects(
      tx,
      "t",
      facts.filter((fact) => !isOdd(fact)),
    );
    return facts.filter(isOdd).map((fact) => ({ fact, cause: "number: must be even" }));
  };

  it("is parked at once, in the transaction that acts on the others, and never comes again", async () => {
    const transactions: unknown[] = [];
    const deliver = deliverTo(own, async (tx, facts) => {
      transactions.push(await tx.one(sql`select pg_current_xact_id()::text as id`));
      return refuseOdd(tx, facts, undefined);
    });
    const batch = [1, 2, 3, 4].map((number) => message(own.name, number, { key: `k${number}` }));
    await deliver(batch);
    await deliver(batch);
    expect(transactions).toHaveLength(1);
    expect(await effectsByKey(reader)).toEqual({ k2: [2], k4: [4] });
    const cause = "number: must be even";
    expect(await parked()).toEqual([
      { key: "k1", cause, overtaken: false },
      { key: "k3", cause, overtaken: false },
    ]);
    expect(await reader.one(sql`select count(*) as count from inbox`)).toEqual({ count: 4 });
  });

  it("is not parked where the transaction fails", async () => {
    let fails = true;
    const deliver = deliverTo(own, async (tx, facts) => {
      const refused = await refuseOdd(tx, facts, undefined);
      if (fails) {
        fails = false;
        await tx.run(sql`select 1 / 0`);
      }
      return refused;
    });
    await deliver([message(own.name, 1)]);
    expect(await parked()).toHaveLength(1);
  });

  it("is overtaken by what is accepted behind it, and not by what is refused", async () => {
    const deliver = deliverTo(own, refuseOdd);
    await deliver([message(own.name, 1), message(own.name, 3), message(own.name, 1, { key: "other" })]);
    expect((await parked()).map(({ overtaken }) => overtaken)).toEqual([false, false, false]);
    await deliver([message(own.name, 4)]);
    expect((await parked()).map(({ overtaken }) => overtaken)).toEqual([true, true, false]);
    await deliver([
      message(own.name, 5, { key: "b" }),
      message(own.name, 6, { key: "b" }),
      message(own.name, 7, { key: "b" }),
    ]);
    expect((await parked()).slice(3).map(({ overtaken }) => overtaken)).toEqual([true, false]);
  });

  it("is deleted when its entity is: it may hold personal data", async () => {
    const deliver = deliverTo(own, refuseOdd);
    await deliver([message(own.name, 1), message(own.name, 3, { key: "other" })]);
    await deliver([message(own.name, 0, { value: null })]);
    expect((await parked()).map(({ key }) => key)).toEqual(["other"]);
    await deliver([
      message(own.name, 5),
      message(own.name, 0, { value: null }),
      message(own.name, 7),
      message(own.name, 1, { key: "b" }),
    ]);
    expect(await parked()).toMatchObject([
      { key: "other" },
      { key: "k", overtaken: false },
      { key: "b", overtaken: false },
    ]);
  });

  it("that has no key is overtaken by nothing", async () => {
    const deliver = deliverTo(own, refuseOdd);
    await deliver([message(own.name, 1, { key: "" }), message(own.name, 2, { key: "" })]);
    await deliver([message(own.name, 4, { key: "" })]);
    expect((await parked()).map(({ overtaken }) => overtaken)).toEqual([false]);
  });
});

describe("a fact that fails here, and on which another process acts at last", () => {
  it("is not parked: its replay would act a second time", async () => {
    const elsewhere = deliverTo(own, (tx, facts) => noteEffects(tx, "t", facts));
    const poison = message(own.name, 1);
    let transactions = 0;
    const late: Db = {
      ...reader,
      async transaction(work) {
        transactions += 1;
        // After five tries, the one that would park it.
        if (transactions === 6) await elsewhere([poison]);
        return reader.transaction(work);
      },
    };
    await deliverTo(own, () => Promise.reject(new Error("cannot be applied")), late)([poison]);
    expect(transactions).toBe(6);
    expect(await effectsByKey(reader)).toEqual({ k: [1] });
    expect(await parked()).toEqual([]);
  });
});

describe("a message from outside", () => {
  const place = { offset: "17", storedAt: at };
  const note: Apply<Numbered> = (tx, facts) => noteEffects(tx, "t", facts);

  it("is known by its place, so it acts once however often it comes", async () => {
    const deliver = deliverTo(outside, note);
    const one = message(outside.name, 1, { headers: {}, place });
    const elsewhere = [
      { ...one, partition: 1 },
      { ...one, place: { ...place, offset: "18" } },
      { ...one, place: { ...place, storedAt: at + 1 } },
    ];
    await deliver([one, one]);
    await deliver([one]);
    expect(await effectsByKey(reader)).toEqual({ k: [1] });
    await deliver([...elsewhere, one]);
    expect(await effectsByKey(reader)).toEqual({ k: [1, 1, 1, 1] });
    expect(await reader.many(sql`select distinct fact_on from inbox`)).toEqual([{ fact_on: "2026-11-21" }]);
  });

  it("has the time at which it was stored", async () => {
    const times: number[] = [];
    const deliver = deliverTo(outside, async (_tx, facts) => {
      times.push(...facts.map((fact) => fact.at));
    });
    await deliver([message(outside.name, 1, { headers: {}, place })]);
    expect(times).toEqual([at]);
  });

  it("keeps the id that it brings along", async () => {
    const deliver = deliverTo(outside, note);
    const id = randomUUID();
    const headers = { [header.factId]: id, [header.at]: String(at) };
    await deliver([message(outside.name, 1, { headers, place })]);
    await deliver([message(outside.name, 1, { headers, place: { ...place, offset: "99" } })]);
    expect(await reader.many(sql`select fact_id from effect`)).toEqual([{ fact_id: id }]);
  });

  it.each([
    ["of a topic that only its owner publishes", own, place],
    ["that was stored nowhere", outside, undefined],
  ] as const)("is parked without an id where it is one %s", async (_name, topic, stored) => {
    const deliver = deliverTo(topic, note);
    await deliver([message(topic.name, 1, { headers: {}, ...(stored === undefined ? {} : { place: stored }) })]);
    expect(await effectsByKey(reader)).toEqual({});
    expect(await parked()).toHaveLength(1);
  });
});

describe("a fault", () => {
  it("over a matter of the facts themselves is parked; a conflict with other transactions is waited for", async () => {
    const tries: number[] = [];
    let busy = 8;
    const deliver = deliverTo(own, async (tx, facts) => {
      const number = facts[0]?.value?.number ?? 0;
      tries.push(number);
      if (number === 1) throw new Fault("unmet", "seat_taken", "the seat is taken");
      busy -= 1;
      if (busy > 0) throw new Fault("conflict", busy % 2 === 0 ? "locked" : "concurrent_change", "busy");
      await noteEffects(tx, "t", facts);
    });
    await deliver([message(own.name, 1)]);
    expect(tries).toHaveLength(5);
    expect(await parked()).toEqual([{ key: "k", cause: "unmet seat_taken: the seat is taken", overtaken: false }]);
    busy = 5;
    await deliver([message(own.name, 2)]);
    expect(await effectsByKey(reader)).toEqual({ k: [2] });
  });
});
