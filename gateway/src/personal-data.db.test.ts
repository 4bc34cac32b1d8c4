import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { AnswersGiven } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import { PersonalData } from "@tessera/protos/services";
import { recordFeed, topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { erase, findErased } from "@tessera/testkit/erase";
import { collect } from "@tessera/testkit/files-contract";
import { finishWork } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { gateway } from "./index.ts";
import { claimRequest, eraseAnswers, findAnswer, findRequest, keepAnswer } from "./store/kept-answers.ts";
import { endNaming, expireDropped, insertUpload, keyOf, lockOfEvent } from "./store/uploads.ts";

let database: TestDatabase;
let directory: string;
let service: Awaited<ReturnType<typeof start>>;

const start = async () => {
  const files = diskFiles({ directory });
  return { files, ...(await startForTest(gateway, { db: database.open("gateway"), files })) };
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-uploads-"));
  database = await createTestDatabase([{ schema: "gateway", migrations: new URL("../migrations/", import.meta.url) }]);
  service = await start();
});
afterAll(async () => {
  await service.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  await service.reset();
  await service.files.remove((await collect(service.files.list(""))).map(({ key }) => key));
});

const place = { organizer: "bigevents", event: "sampleconf" };
const elsewhere = { organizer: "bigevents", event: "afterparty" };
const answer = {
  status: 200,
  headers: { "Content-Type": "application/json" },
  body: Buffer.from("Ada"),
};

const requestOf = (key: string, of: typeof place | undefined) => ({
  ...{ caller: "key", key, requestHash: Buffer.from(key), of },
});
async function claim(key: string, of: typeof place | undefined) {
  const claiming = await claimRequest(service.db, requestOf(key, of));
  if (claiming.kind !== "claimed") throw new Error(`it is ${claiming.kind}`);
  return claiming.claim;
}
async function keep(key: string, of: typeof place | undefined): Promise<void> {
  await keepAnswer(service.db, await claim(key, of), answer);
}
const kept = async () => {
  const rows = await service.db.many<{ key: string }>(
    sql`select key from kept_answer where body is not null order by key`,
  );
  return rows.map(({ key }) => key);
};

async function upload(): Promise<string> {
  const id = randomUUID();
  const owner = { organizer: "bigevents", credentialKind: "device", credentialId: "3" } as const;
  const file = { fileName: "ada.png", contentType: "image/png", size: 1, sha256: "ab".repeat(32) };
  const createdAt = service.clock.now();
  await service.files.put(keyOf(id), Buffer.from("x"), file);
  await insertUpload(service.db, { id, ...owner, ...file, createdAt, expiresAt: createdAt + 86_400_000_000 });
  return id;
}
/** Delivers the fact of an answer that names an upload. */
async function nameUpload(id: string, { organizer, event }: typeof place): Promise<void> {
  const file = { upload: id, name: "ada.png", contentType: "image/png", size: 1, sha256: "" };
  const answers = [{ question: 1, revision: 1, answer: undefined, file }];
  const none = AnswersGiven.decode(new Uint8Array());
  await service.deliver(topics.answersGiven, [{ ...none, organizer, event, position: 1, revision: 1, answers }]);
}
const uploads = async () => ({
  rows: (await service.db.many<{ id: string }>(sql`select id from upload`)).map(({ id }) => id).toSorted(),
  files: (await collect(service.files.list(""))).map(({ key }) => key).toSorted(),
});

it("[D3.11] answers that the gateway keeps are erased by every kind but ticket files, and those of other events stay", async () => {
  for (const key of ["one", "two"]) await keep(key, place);
  await keep("there", elsewhere);
  await keep("nowhere", undefined);
  expect(await erase(service, place, { kinds: ["cachedtickets"] })).toMatchObject({ parts: {}, left: {} });
  expect(await kept()).toHaveLength(4);
  expect(await erase(service, place, { kinds: ["order_emails", "waiting_list"] })).toMatchObject({
    state: ErasureState.DONE,
    parts: { "order_emails kept_answer.body": 2, "waiting_list kept_answer.body": 2 },
    left: {},
  });
  expect(await kept()).toEqual(["nowhere", "there"]);
});

it("[D4.7] a request that is at work while its event is erased leaves no answer, and can be repeated at once", async () => {
  const underWay = await claim("slow", place);
  await erase(service, place, { kinds: ["attendee_info"] });
  await keepAnswer(service.db, underWay, answer);
  await keep("there", elsewhere);
  expect(await kept()).toEqual(["there"]);
  expect(await findRequest(service.db, requestOf("slow", place))).toBeUndefined();
  expect(await claim("slow", place)).toMatchObject({ requestId: underWay.requestId });
});

it("[D4.7, A10.15] what was asked about a key before and after an erasure ends: its request was processed", async () => {
  await keep("before", place);
  const underWay = await claim("slow", place);
  await erase(service, place, { kinds: ["attendee_info"] });
  await keep("after", place);
  const ask = (key: string) => findAnswer(service.db, { caller: "key", key });
  expect([await ask("before"), await ask("after"), await ask("slow")]).toEqual([
    { kind: "erased" },
    { kind: "erased" },
    { kind: "under way" },
  ]);
  await keepAnswer(service.db, underWay, answer);
  expect(await ask("slow")).toEqual({ kind: "erased" });
  await claim("slow", place);
  expect(await ask("slow")).toEqual({ kind: "under way" });
});

it("[D3.11] an answer that is being repeated is erased, too, after its repetition", async () => {
  await keep("one", place);
  const repeated = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const repetition = service.db.transaction(async (tx) => {
    // It stays unclaimed, and its row is locked.
    expect(await claimRequest(tx, requestOf("one", place))).toMatchObject({ kind: "answered" });
    repeated.resolve();
    await goOn.promise;
  });
  await repeated.promise;
  const erasing = eraseAnswers(service.db, place);
  const waiting = sql`
    select from pg_locks
      join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
     where pg_stat_activity.datname = current_database() and not pg_locks.granted`;
  await expect
    .poll(() => service.db.many(waiting))
    .toHaveLength(1)
    .finally(goOn.resolve);
  await repetition;
  expect(await erasing).toEqual({ count: 1, isMore: false });
  expect(await kept()).toEqual([]);
});

it("[D3.12] uploads that answers of an event name are deleted with their files, and others stay", async () => {
  const [ours, theirs, unnamed] = [await upload(), await upload(), await upload()];
  await nameUpload(ours, place);
  await nameUpload(theirs, elsewhere);
  expect(await erase(service, place, { kinds: ["attendee_info"] })).toMatchObject({ parts: {} });
  expect(await erase(service, place, { kinds: ["question_answers"] })).toMatchObject({
    parts: { "question_answers upload": 1 },
    left: {},
  });
  const left = [theirs, unnamed].toSorted();
  expect(await uploads()).toEqual({ rows: left, files: left.map(keyOf) });
});

it.each([
  ["first", place, elsewhere],
  ["last", elsewhere, place],
])(
  "[D3.12] an upload that answers of two events name goes with the second erasure, and counts in each: %s",
  async (_name, one, other) => {
    const id = await upload();
    for (const named of [place, elsewhere, place]) await nameUpload(id, named);
    for (const [erased, left] of [
      [one, [id]],
      [other, []],
    ] as const) {
      expect(await erase(service, erased, { kinds: ["question_answers"] })).toMatchObject({
        parts: { "question_answers upload": 1 },
        left: {},
      });
      expect(await uploads()).toEqual({ rows: left, files: left.map(keyOf) });
    }
  },
);

it("[D3.12] of events that name one upload, and are erased at the same time, the last one has it deleted", async () => {
  const id = await upload();
  for (const named of [place, elsewhere, { ...place, event: "breakfast" }]) await nameUpload(id, named);
  const ended = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const end = (of: typeof place, held?: Promise<void>) =>
    service.db.transaction(async (tx) => {
      const isShared = (await endNaming(tx, of, await lockOfEvent(tx, of, { most: 100 }))).has(id);
      ended.resolve();
      await held;
      return isShared;
    });
  const one = end(place, goOn.promise);
  await ended.promise;
  const other = end(elsewhere);
  await untilWaiting(service.db).finally(goOn.resolve);
  expect([await one, await other]).toEqual([true, true]);
  expect(await end({ ...place, event: "breakfast" })).toBe(false);
});

it("[D3.12] an upload stays for an event with answers, where another one that names it has lost its own", async () => {
  await erase(service, place, { kinds: ["question_answers"] });
  const [before, behind] = [await upload(), await upload()];
  await nameUpload(before, place);
  for (const id of [before, behind]) await nameUpload(id, elsewhere);
  await nameUpload(behind, place);
  await service.runJob("remove-expired-uploads");
  const left = [before, behind].toSorted();
  expect(await uploads()).toEqual({ rows: left, files: left.map(keyOf) });
  expect((await erase(service, elsewhere, { kinds: ["question_answers"] })).parts).toEqual({
    "question_answers upload": 2,
  });
  expect(await uploads()).toEqual({ rows: [], files: [] });
});

it("[D3.12] an upload that an answer names after its erasure is deleted by the next sweep", async () => {
  const [late, unnamed] = [await upload(), await upload()];
  await erase(service, place, { kinds: ["question_answers"] });
  await nameUpload(late, place);
  await service.runJob("remove-expired-uploads");
  expect(await uploads()).toEqual({ rows: [unnamed], files: [keyOf(unnamed)] });
});

it("[D3.12] an upload of an answer that is dropped after its erasure is deleted by the next sweep, and no other", async () => {
  const [late, early, named] = [await upload(), await upload(), await upload()];
  const drop = (id: string, of: typeof place) => expireDropped(service.db, of, { ids: [id], now: service.clock.now() });
  await nameUpload(named, elsewhere);
  await drop(early, place);
  await erase(service, place, { kinds: ["question_answers"] });
  for (const id of [late, named]) await drop(id, place);
  await drop(early, elsewhere);
  await service.runJob("remove-expired-uploads");
  const left = [early, named].toSorted();
  expect(await uploads()).toEqual({ rows: left, files: left.map(keyOf) });
});

it("[D3.17] records of the feed that were parked are deleted with the kinds that they may bring, of their event alone", async () => {
  for (const key of ["bigevents/sampleconf#1f", "bigevents/sampleconf2#1f", "bigevents/#1f"])
    await service.db.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, payload, cause)
      values ('gateway', ${recordFeed.name}, ${key}, gen_random_uuid(), now(), ${Buffer.from("Ada")}, 'wrong')`);
  const request = { ...place, case: randomUUID() };
  // The log reports a parked fact.
  await service
    .deliver(topics.shredRequested, [{ ...request, kinds: ["order_emails"], again: true, fromLedger: true }])
    .catch(() => {});
  await finishWork(service.db, service.workers);
  expect((await findErased(service, request)).parts).toEqual({ "order_emails dead_letter.payload": 1 });
  const left = await service.db.many<{ key: string }>(sql`select key from dead_letter`);
  expect(left.map(({ key }) => key).toSorted()).toEqual(["bigevents/#1f", "bigevents/sampleconf2#1f"]);
});

it("[D4.4] an event that was deleted takes its erasures along", async () => {
  await erase(service, place, { kinds: ["attendee_info"] });
  const state = { ...EventChanged.decode(new Uint8Array()), ...place, revision: 2 };
  await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`, state]);
  await keep("new", place);
  expect(await kept()).toEqual(["new"]);
});

it("exports nothing of an event, and always describes it alike", async () => {
  const described = await service.connect(PersonalData).describeEvent(place);
  expect(described.files).toEqual([]);
  await keep("one", place);
  expect(await service.connect(PersonalData).describeEvent(place)).toEqual(described);
});
