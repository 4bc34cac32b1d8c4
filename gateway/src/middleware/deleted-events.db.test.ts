import { randomUUID } from "node:crypto";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventChanged } from "../consumers/event-changed.ts";
import { deleteKeptAnswers } from "../jobs/delete-kept-answers.ts";
import {
  claimRequest,
  findAnswer,
  findRequest,
  keepAnswer,
  noteDeleted,
  releaseRequest,
} from "../store/kept-answers.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { aList } from "../testing/fake-peers.ts";
import { inEvent, type ServedApp, serveApp } from "../testing/serve-app.ts";
import { endClaims } from "./end-claims.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const { signal } = new AbortController();
const place = { organizer: "bigevents", event: "sampleconf" };

let gateways: readonly [ServedApp, ServedApp];
/** The name of the list in the answers of services. */
let shown: string;

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());

beforeEach(async () => {
  shown = "Ada's";
  gateways = [await serve(), await serve()];
  await tell(1);
});
afterEach(async () => {
  for (const gateway of gateways) await gateway.close();
  for (const table of [sql`kept_answer`, sql`event`, sql`deleted_event`]) await db.run(sql`delete from ${table}`);
});

/** One of several gateways on one database. */
async function serve(): Promise<ServedApp> {
  const answers = endClaims(
    {
      claim: (request) => claimRequest(db, request),
      find: (request) => findRequest(db, request),
      keep: (claim, answer) => keepAnswer(db, claim, answer),
      release: (claim) => releaseRequest(db, claim),
      isFull: () => false,
    },
    { log },
  );
  const app = await serveApp({ answers, findAnswer: (use) => findAnswer(db, use) });
  app.peers.when("checkinLists", "createCheckinList", async () => ({ list: aList({ name: shown }) }));
  return app;
}

/** Delivers states of the event with these revisions; "deleted" is its tombstone. */
async function tell(...told: readonly (number | "deleted")[]): Promise<void> {
  const deps = { directory: { forget() {} } };
  const consumer = eventChanged.open({ db, group: "gateway", log, isErased: nothingErased, deps });
  const state = (revision: number) =>
    topics.eventChanged.encode({ ...EventChanged.decode(new Uint8Array()), ...place, revision });
  const messages = told.map((each) => ({
    topic: topics.eventChanged.name,
    partition: 0,
    key: `${place.organizer}/${place.event}/`,
    value: each === "deleted" ? null : state(each),
    headers: { [header.factId]: randomUUID(), [header.at]: "0" },
  }));
  await consumer.deliver(messages, signal);
  expect(await db.many(sql`select cause from dead_letter`)).toEqual([]);
}

const create = (key: string, gateway = gateways[0]) =>
  gateway.send("POST", `${inEvent}/checkinlists/`, { headers: { "x-idempotency-key": key }, body: { name: "x" } });
const ask = (key: string, gateway = gateways[1]) => gateway.send("GET", `/api/v1/idempotency_query?key=${key}`);
const created = () => gateways.flatMap(({ peers }) => peers.requestsOf("createCheckinList")).length;
const requestIds = () => db.many<{ request_id: string }>(sql`select request_id from kept_answer`);
const clean = () => deleteKeptAnswers({ db }).run(signal);
const erased = { detail: expect.stringContaining("was erased") };

describe("answers about an event that is deleted and comes back", () => {
  it.each<[string, ("deleted" | number)[][]]>([
    ["at once", [["deleted", 2]]],
    ["later", [["deleted"], [2]]],
  ])(
    "[A10.22, S1.6] are not repeated and not shown, however many they are, and the new event keeps its own: %s",
    async (_name, deliveries) => {
      await create("one");
      const first = await requestIds();
      await db.run(sql`
      insert into kept_answer (caller, key, request_hash, leased_until, status, headers, body, organizer, event)
      select kept_answer.caller, 'many-' || number, kept_answer.request_hash, kept_answer.leased_until, 201,
             kept_answer.headers, kept_answer.body, kept_answer.organizer, kept_answer.event
        from kept_answer cross join generate_series(1, 1800) as number`);
      for (const each of deliveries) await tell(...each);
      shown = "new";
      for (const key of ["one", "many-1", "many-1800"]) {
        const { status, json, text } = await ask(key);
        expect([status, json]).toEqual([404, erased]);
        expect(text).not.toContain("Ada");
      }
      const again = await create("one", gateways[1]);
      expect([again.status, again.json]).toMatchObject([201, { name: "new" }]);
      expect(created()).toBe(2);
      expect((await create("one")).text).toBe(again.text);
      expect((await ask("one")).text).toBe(again.text);
      // A service that answered the former request would repeat that answer.
      expect(await requestIds()).not.toEqual(expect.arrayContaining(first));
      expect(created()).toBe(2);

      await clean();
      expect((await create("one")).text).toBe(again.text);
      const left = await db.many(
        sql`select key, convert_from(body, 'UTF8') ~ 'Ada' as is_old from kept_answer where status is not null`,
      );
      expect(left).toEqual([{ key: "one", is_old: false }]);
      expect([(await ask("many-7")).status, (await ask("many-7")).json]).toEqual([404, erased]);
    },
  );

  it("[A10.22] are erased of one that a rebuild has left out, and its requests stay the same: it was not deleted", async () => {
    await create("one");
    const before = await requestIds();
    await db.run(sql`delete from event`);
    await clean();
    await tell(2);
    expect(await ask("one")).toMatchObject({ status: 404, json: erased });
    await create("one");
    expect(await requestIds()).toEqual(before);
    await tell("deleted");
    await clean();
    expect(await requestIds()).not.toEqual(before);
  });

  it("[A10.22] are not those of requests that were under way", async () => {
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    gateways[0].peers.when("checkinLists", "createCheckinList", async () => {
      reached.resolve();
      await goOn.promise;
      return { list: aList({ name: "Ada's" }) };
    });
    const slow = create("slow");
    await reached.promise;
    const before = await requestIds();
    await tell("deleted", 2);
    expect((await ask("slow")).status).toBe(409);
    expect((await create("slow", gateways[1])).status).toBe(409);
    goOn.resolve();
    expect((await slow).status).toBe(201);
    expect([(await ask("slow")).status, (await ask("slow")).json]).toEqual([404, erased]);
    shown = "new";
    expect((await create("slow", gateways[1])).json).toMatchObject({ name: "new" });
    expect(await requestIds()).not.toEqual(before);
  });

  it("[A10.22] are not those of requests that came while there was no event", async () => {
    await tell("deleted");
    // This gateway has not received the fact yet.
    await create("between");
    await tell(2);
    expect((await ask("between")).status).toBe(404);
    shown = "new";
    expect((await create("between", gateways[1])).json).toMatchObject({ name: "new" });
    expect((await ask("between")).json).toMatchObject({ name: "new" });
  });

  it("[A10.10, A10.22] are given by none of many requests at two gateways once the deletion was heard of", async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    for (const key of keys) await create(key);
    const earlier = created();
    const telling = tell("deleted", 2);
    shown = "new";
    const meanwhile = Promise.all(keys.map((key) => create(key, gateways[1])));
    await telling;
    const answers = await Promise.all(
      keys.flatMap((key) => gateways.flatMap((gateway) => [create(key, gateway), create(key, gateway)])),
    );
    await meanwhile;
    for (const { status, text } of answers) {
      expect([201, 409]).toContain(status);
      expect(text).not.toContain("Ada");
    }
    for (const key of keys) expect((await create(key)).json).toMatchObject({ name: "new" });
    expect(created()).toBe(earlier + keys.length);
  });

  it("[A10.22] end again with the next event of the name, and those of another event stay", async () => {
    await gateways[0].send("POST", `${inEvent.replace("sampleconf", "other")}/checkinlists/`, {
      headers: { "x-idempotency-key": "other" },
      body: { name: "x" },
    });
    await tell("deleted", 2);
    await create("one");
    await tell("deleted", 3);
    expect((await ask("one")).status).toBe(404);
    expect((await ask("other")).status).toBe(201);
  });

  it("[A10.22] stay if the transaction that heard of the deletion is undone", async () => {
    await create("one");
    const undone = db.transaction(async (tx) => {
      await noteDeleted(tx, [place]);
      throw new Error("the process was killed");
    });
    await expect(undone).rejects.toThrow("killed");
    expect((await ask("one")).status).toBe(201);
  });

  it("[A10.12] leave no note once none can be kept any more", async () => {
    await tell("deleted", 2);
    const notes = () => db.many(sql`select event from deleted_event`);
    await db.run(sql`update deleted_event set deleted_at = now() - interval '25 hours'`);
    await clean();
    expect(await notes()).toHaveLength(1);
    await db.run(sql`update deleted_event set deleted_at = now() - interval '49 hours'`);
    await create("one");
    await clean();
    expect(await notes()).toEqual([]);
    expect((await ask("one")).status).toBe(201);
  });
});
