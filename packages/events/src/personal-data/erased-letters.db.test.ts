import { randomUUID } from "node:crypto";
import type { Bus, Delivery } from "@tessera/kit/bus/bus";
import { consume } from "@tessera/kit/bus/consume";
import { storeDeadLetters } from "@tessera/kit/bus/dead-letter";
import type { Apply } from "@tessera/kit/bus/fact";
import { header } from "@tessera/kit/bus/headers";
import { requestReplays } from "@tessera/kit/bus/operators";
import { startRelay } from "@tessera/kit/bus/relay";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { eventually } from "@tessera/testkit/eventually";
import { type EmptiedDatabase, factDatabaseOfFile } from "@tessera/testkit/fact-database";
import { isDrained, type Numbered, numberedTopic, quiet } from "@tessera/testkit/fact-pipeline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isErasedByKey } from "./erased-kinds.ts";

const emptied = await factDatabaseOfFile();
const own = numberedTopic("owner.counted.v1");
const at = Date.UTC(2026, 10, 21) * 1000;

let database: EmptiedDatabase;
let reader: Db;

beforeEach(async () => {
  database = await emptied();
  reader = database.open("reader");
});

afterEach(() => database.close());

function message(topic: string, number: number, key: string): Delivery {
  const headers = { [header.factId]: randomUUID(), [header.at]: String(at) };
  return { topic, partition: 0, key, value: Buffer.from(JSON.stringify([key, number])), headers };
}

/** Notes that `order_emails` of an event are erased, or that this was taken back. */
function noteErasure(state: "asked" | "taken on" | "taken back", { event = "e", db = reader } = {}) {
  return db.run(sql`
    insert into erasure (organizer, event, case_id, kinds, is_taken_on, is_taken_back)
    values ('o', ${event}, ${randomUUID()}::uuid, ${state === "taken back" ? [] : ["order_emails"]}::text[], ${state === "taken on"}, ${state === "taken back"})`);
}

function deliverTo(topic: typeof own, apply: Apply<Numbered>) {
  const runtime = { db: reader, group: "reader", log: quiet, isErased: isErasedByKey, deps: undefined };
  const consumer = consume(topic, apply).open(runtime);
  return (messages: readonly Delivery[]) => consumer.deliver(messages, new AbortController().signal);
}

it("[D4.10] of an event with erased data a fact that fails or is refused is parked without what it says, and never replayed", async () => {
  const carrying = { ...own, personalData: { order_emails: ["number"] } };
  const other = { ...numberedTopic("owner.second.v1"), personalData: { phone_numbers: ["number"] } };
  const refuse: Apply<Numbered> = async (_tx, facts) => facts.map((fact) => ({ fact, cause: "refused" }));
  const fail: Apply<Numbered> = () => Promise.reject(new Error("failed"));
  await noteErasure("taken on");
  // It is not decided yet whether anything is erased of this one.
  await noteErasure("asked", { event: "e2" });
  await deliverTo(carrying, refuse)([message(own.name, 1, "o/e/1"), message(own.name, 2, "o/e2/1")]);
  await deliverTo(carrying, fail)([message(own.name, 3, "o/e/3")]);
  await deliverTo(other, refuse)([message(other.name, 4, "o/e/4")]);
  const stored = await reader.many(
    sql`select id, key, payload is null as is_empty, is_emptied, cause from dead_letter order by id`,
  );
  const why = "; parked without what it says, because personal data that it may carry was erased";
  expect(stored).toMatchObject([
    { key: "o/e/1", is_empty: true, is_emptied: true, cause: `refused${why}` },
    { key: "o/e2/1", is_empty: false, is_emptied: false, cause: "refused" },
    { key: "o/e/3", is_empty: true, is_emptied: true, cause: expect.stringContaining(why) },
    { key: "o/e/4", is_empty: false, is_emptied: false, cause: "refused" },
  ]);
  expect(await requestReplays(reader, {})).toEqual([stored[1], stored[3]].map((row) => (row as { id: number }).id));
});

it("[D4.10] of an event whose erasure was refused a fact is parked with what it says, also where its kinds are not known", async () => {
  await noteErasure("taken back");
  const identity = { id: randomUUID(), at };
  const letter = { message: message(own.name, 1, "o/e/1"), identity, cause: "refused", isSuperseded: false };
  await storeDeadLetters(reader, "t", [letter], { isErased: isErasedByKey });
  expect(await reader.many(sql`select is_emptied, payload is null as is_empty from dead_letter`)).toEqual([
    { is_emptied: false, is_empty: false },
  ]);
});

it("[D4.10] of an event with erased data a fact that the bus refuses is parked without what it says", async () => {
  const owner = database.open("owner");
  await noteErasure("taken on", { db: owner });
  const bus: Bus = {
    publish: () => Promise.reject(new Fault("unmet", "message_refused", "the bus does not take it")),
    subscribe: async () => {},
    partitions: async () => 1,
    backlog: async () => [],
    close: async () => {},
  };
  await owner.transaction((tx) => tx.publish(own, [{ key: "o/e/1", number: 1 }]));
  await owner.transaction((tx) => tx.publish(own, [{ key: "o/e2/1", number: 2 }]));
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: isErasedByKey });
  await eventually(() => isDrained(owner));
  await relay.stop();
  expect(await owner.many(sql`select key, payload is null as is_empty from dead_letter order by key`)).toEqual([
    { key: "o/e/1", is_empty: true },
    { key: "o/e2/1", is_empty: false },
  ]);
});
