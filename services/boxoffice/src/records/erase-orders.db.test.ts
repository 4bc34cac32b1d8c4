import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/disk";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { erase, findErased, readExport } from "@tessera/testkit/erase";
import { collect } from "@tessera/testkit/files-contract";
import { finishWork, startTestWorkers } from "@tessera/testkit/finish-work";
import { startForTest } from "@tessera/testkit/start-for-test";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { boxoffice } from "../index.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { answersFact, given, readPosition } from "../testing/gate.ts";
import { position, sample, type TestRecord } from "../testing/records.ts";
import { keyOfFile } from "./answer-file.ts";
import { gateFileCopy } from "./gate-answers.ts";

let database: TestDatabase;
let db: Db;
let directory: string;
let files: Files;
let office: BoxOffice;
let service: Awaited<ReturnType<typeof start>>;

const start = () => startForTest(boxoffice, { db, files });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-erased-"));
  files = diskFiles({ directory });
  database = await createTestDatabase([
    { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  db = database.open("boxoffice");
  office = boxOfficeOn(db, { files });
  service = await start();
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

const place = { organizer: "org", event: "fest" };
const everyKind = ["attendee_info", "order_emails", "phone_numbers", "invoice_addresses", "question_answers"];
const address = { company: "Example Ltd", street: "1 Road", zipcode: "12345", city: "Town" };
const ada = {
  attendee_name: "Ada Quill",
  attendee_name_parts: { full_name: "Ada Quill" },
  attendee_email: "ada@example.org",
  ...{ ...address, country: "DE", state: "BE" },
};
const photo = `data:image/png;base64,${fileWith("image/png", "ada").toString("base64")}`;
const answers = [
  { question: 1, answer: photo, file_name: "ada.png", question_identifier: "PHOTO" },
  { question: 2, answer: "vegan", question_identifier: "DIET" },
];

/** An order of two tickets, the second canceled, with everything that can be erased. */
const order = (changes: object = {}, at: object = {}): TestRecord => ({
  ...sample.order({
    code: "FULL",
    email: "buyer@example.org",
    phone: "+4930123456",
    customer: "C1",
    invoice_address: { name: "Ada Quill", ...address, country: "DE" },
    positions: [
      position({ id: 1, ...ada, answers }),
      position({ id: 2, positionid: 2, secret: "second", canceled: true, ...ada }),
    ],
    ...changes,
  }),
  ...at,
});
const bare = order({
  code: "BARE",
  ...{ email: null, phone: null, customer: null, invoice_address: null },
  positions: [position({ id: 3, secret: "third" })],
});

async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

beforeEach(async () => {
  await service.reset();
  await files.remove((await collect(files.list(""))).map(({ key }) => key));
  await take(sample.organizer());
  for (const event of ["fest", "other"]) {
    await take(
      { ...sample.event({ slug: event, date_from: "2020-07-01T18:00:00Z" }), event },
      { ...sample.item(), event },
      { ...sample.question({ id: 1, type: "F", identifier: "PHOTO" }), event },
      { ...sample.question({ id: 2, type: "T", identifier: "DIET" }), event },
      order({}, { event }),
    );
  }
  await take(bare);
  await takeFacts(db);
});

const documentOf = async (code = "FULL", event = "fest") =>
  (
    await db.one<{ data: Record<string, unknown> & { positions: Record<string, unknown>[] } }>(
      sql`select data from "order" where code = ${code} and event = ${event}`,
    )
  ).data;
const storedFiles = async (event = "fest") =>
  (await collect(files.list(keyOfFile({ organizer: "org", event }, "")))).length;

describe("an erasure of orders", () => {
  it("[D3.13, D3.15] empties their fields by kind, also of canceled tickets, and leaves the other kinds", async () => {
    const [before, elsewhere] = [await documentOf(), await documentOf("FULL", "other")];
    const erased = await erase(service, place, { kinds: ["attendee_info"] });
    expect(erased).toMatchObject({ state: ErasureState.DONE, left: {}, parts: { "attendee_info order.data": 12 } });
    const { positions, ...rest } = await documentOf();
    const { positions: former, ...formerRest } = before;
    expect(rest).toEqual(formerRest);
    const empty = {
      attendee_name: undefined,
      attendee_name_parts: {},
      company: undefined,
      street: undefined,
      zipcode: undefined,
      city: undefined,
    };
    expect(positions).toEqual(former.map((each) => ({ ...each, ...empty })));
    expect(positions[0]).toMatchObject({ country: "DE", state: "BE", attendee_email: "ada@example.org" });
    expect(await erase(service, place, { kinds: ["phone_numbers", "order_emails"] })).toMatchObject({
      parts: { "phone_numbers order.data": 1, "order_emails order.data": 4 },
    });
    const half = await documentOf();
    expect([half["phone"], half["email"], half["customer"]]).toEqual([undefined, undefined, undefined]);
    expect(half["invoice_address"]).toEqual(before["invoice_address"]);
    await erase(service, place, { kinds: ["invoice_addresses"] });
    expect((await documentOf())["invoice_address"]).toBeUndefined();
    expect(await documentOf("FULL", "other")).toEqual(elsewhere);
  });

  it("[D3.23] leaves what the organizer noted", async () => {
    const noted = { comment: "call Ada", checkin_text: "VIP", api_meta: { crm: "Ada" } };
    await take(order({ ...noted, fees: [{ description: "courier to Ada", value: "1.00" }] }));
    await erase(service, place, { kinds: everyKind });
    expect(await documentOf()).toMatchObject({ ...noted, fees: [{ description: "courier to Ada" }] });
  });

  it("[D3.2] counts what is left by kind, each order and each ticket once for a kind", async () => {
    const stored = sql`
      select "order".data, position.id, position.state
        from "order"
        join position on position.organizer = "order".organizer
                     and position.event = "order".event
                     and position.order_code = "order".code
       where "order".event = 'fest' and "order".code = 'FULL'`;
    const rows = await db.many<{ data: object; id: number; state: Buffer }>(stored);
    const { case: id } = await erase(service, place, { kinds: ["order_emails", "attendee_info", "phone_numbers"] });
    for (const row of rows) {
      await db.run(
        sql`update "order" set data = ${JSON.stringify(row.data)}::jsonb where event = 'fest' and code = 'FULL'`,
      );
      await db.run(sql`update position set state = ${row.state} where event = 'fest' and id = ${row.id}`);
    }
    expect((await findErased(service, { ...place, case: id })).left).toEqual({
      ...{ "order_emails order.data": 1, "attendee_info order.data": 1, "phone_numbers order.data": 1 },
      ...{ "order_emails position.state": 2, "attendee_info position.state": 2 },
    });
  });

  it("[D3.14] publishes tickets that have lost something, once each, and no others", async () => {
    await erase(service, place, { kinds: everyKind });
    const facts = (await takeFacts(db)).filter(({ topic }) => topic === "position-changed");
    expect(facts.map(({ key }) => key)).toEqual(["org/fest/1", "org/fest/2"]);
    expect(JSON.stringify(facts)).not.toMatch(/Ada|ada@|buyer@|Example Ltd|vegan/);
    const { country, state, order: shown } = await readPosition(db);
    expect([country, state, shown?.email, shown?.invoiceName]).toEqual(["DE", "BE", undefined, undefined]);
    const { xmin } = await db.one<{ xmin: string }>(sql`select xmin::text from "order" where code = 'BARE'`);
    expect(await erase(service, place, { kinds: everyKind })).toMatchObject({ parts: {}, left: {} });
    expect(await takeFacts(db)).toEqual([]);
    expect(await db.one(sql`select xmin::text from "order" where code = 'BARE'`)).toEqual({ xmin });
  });

  it("[D3.14] deletes answers of records and of gates, with their files", async () => {
    const upload = randomUUID();
    await files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    await service.deliver(topics.answersGiven, [
      answersFact([given(2, 7, "meat")], { position: 1 }),
      answersFact([given(1, 8, "a file", { upload })], { position: 2 }),
    ]);
    await finishWork(db, service.workers);
    expect(await storedFiles()).toBe(2);
    await takeFacts(db);
    expect(await erase(service, place, { kinds: ["question_answers"] })).toMatchObject({
      parts: {
        "question_answers order.data": 1,
        "question_answers answer_file": 1,
        "question_answers gate_answer": 2,
      },
      left: {},
    });
    expect([await storedFiles(), await storedFiles("other")]).toEqual([0, 1]);
    expect((await documentOf()).positions[0]).toMatchObject({ answers: [], attendee_name: "Ada Quill" });
    for (const id of [1, 2]) expect((await readPosition(db, { id })).answers).toEqual([]);
    const told = (await takeFacts(db)).filter(({ topic }) => topic === "position-changed");
    expect(new Set(told.map(({ key }) => key))).toEqual(new Set(["org/fest/1", "org/fest/2"]));
    const last = new Map(
      told.map(({ key, value }) => [key, (value as { position: { answers: object[] } } | null)?.position.answers]),
    );
    expect([...last.values()]).toEqual([[], []]);
  });

  it("[D4.1] leaves no file that is being copied meanwhile", async () => {
    const may = Promise.withResolvers<void>();
    const slow: Files = {
      ...files,
      async put(...given) {
        const stored = await files.put(...given);
        await may.promise;
        return stored;
      },
    };
    const upload = randomUUID();
    await files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    const copying = await startForTest(boxoffice, { db, files: slow });
    await service.deliver(topics.answersGiven, [answersFact([given(1, 8, "a file", { upload })], { position: 2 })]);
    const workers = startTestWorkers(
      db,
      copying.workers.filter(({ work }) => work.kind === gateFileCopy.kind),
    );
    try {
      await expect.poll(() => storedFiles()).toBe(2);
      const id = randomUUID();
      const erasing = erase(service, place, { kinds: ["question_answers"], case: id });
      await expect.poll(async () => (await findErased(service, { ...place, case: id })).state).toBe(ErasureState.DONE);
      may.resolve();
      await erasing;
    } finally {
      await workers.stop();
    }
    expect(await storedFiles()).toBe(0);
  });

  it("[D3.2] goes on after a crash, and counts everything once", async () => {
    const many = Array.from({ length: 500 }, (_, at) => ({
      ...sample.order({
        code: `A${at}`,
        email: "buyer@example.org",
        positions: [position({ id: 100 + at, secret: `many${at}` })],
      }),
    }));
    await take(...many);
    await db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if (select count(*) from "order" where event = 'fest' and data ->> 'email' is null) > 501 then
          raise exception 'the process was killed';
        end if;
        return null;
      end $$`);
    await db.run(sql`create trigger stumble after update on "order" for each statement execute function stumble()`);
    const request = { ...place, case: randomUUID() };
    await service.deliver(topics.shredRequested, [
      { ...request, kinds: ["order_emails"], again: true, fromLedger: true },
    ]);
    await finishWork(db, service.workers);
    const halfway = await findErased(service, request);
    // Of 500 orders, one of which has two addresses.
    expect([halfway.state, halfway.parts]).toEqual([ErasureState.RUNNING, { "order_emails order.data": 501 }]);
    await db.run(sql`drop function stumble cascade`);
    await db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(db, service.workers);
    expect(await findErased(service, request)).toMatchObject({
      state: ErasureState.DONE,
      left: {},
      parts: { "order_emails order.data": 504 },
    });
  });
});

describe("an erasure of orders with much data", () => {
  it("[D3.18, D3.19] has pages that fit in a message, within an order too, and erases few bytes at once", async () => {
    const long = () => randomBytes(4500).toString("base64url");
    const tickets = Array.from({ length: 450 }, (_, at) =>
      position({
        id: 100 + at,
        positionid: 1 + at,
        secret: `long${at}`,
        street: long(),
        answers: [{ question: 2, answer: long(), question_identifier: "DIET" }],
      }),
    );
    await take(sample.order({ code: "BIG", positions: tickets }));
    const client = service.connect(PersonalData);
    // Answers are read with all of a ticket: 12 KB each, of which a page shows the half.
    for (const [file, count] of [
      ["attendee-info.json", 2],
      ["question-answers.json", 3],
    ] as const) {
      const pages: { readonly key: string; readonly json: Uint8Array }[][] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page: Awaited<ReturnType<typeof client.readPersonalData>> = await client.readPersonalData({
          ...place,
          file,
          after,
        });
        pages.push(page.entries);
        after = page.next || undefined;
      }
      const sizes = pages.map((entries) => entries.reduce((sum, { json }) => sum + json.length, 0));
      expect(pages.filter((entries) => entries.some(({ key }) => key.startsWith("BIG"))).length).toBe(count);
      expect(Math.max(...sizes)).toBeLessThan(2.1 * 2 ** 20);
      const keys = pages.flat().map(({ key }) => key);
      expect(keys.filter((key) => key.startsWith("BIG"))).toEqual(tickets.map((_, at) => `BIG-${at + 1}`));
      expect(keys).toContain("FULL-1");
    }
    const slices = async () =>
      (await db.one<{ count: number }>(sql`select count(distinct xmin::text)::int from "order" where event = 'fest'`))
        .count;
    await db.run(sql`update "order" set revision = revision where event = 'fest'`);
    expect(await slices()).toBe(1);
    expect(await erase(service, place, { kinds: ["attendee_info"] })).toMatchObject({
      parts: { "attendee_info order.data": 462 },
      left: {},
    });
    // One did not change, and those that did were of two transactions.
    expect(await slices()).toBe(3);
  });

  it("[D3.19] erases positions in parts, before the document of their order", async () => {
    const tickets = Array.from({ length: 501 }, (_, at) =>
      position({ id: 100 + at, positionid: 1 + at, secret: `wide${at}`, attendee_name: "Ada" }),
    );
    await take(sample.order({ code: "WIDE", positions: tickets }));
    await db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if new.code = 'WIDE' then raise exception 'the process was killed'; end if;
        return new;
      end $$`);
    await db.run(sql`create trigger stumble before update on "order" for each row execute function stumble()`);
    const request = { ...place, case: randomUUID() };
    await service.deliver(topics.shredRequested, [
      { ...request, kinds: ["attendee_info"], again: true, fromLedger: true },
    ]);
    await finishWork(db, service.workers);
    const parts = () =>
      db.many<{ count: number }>(sql`
        select count(*)::int as count from position where order_code = 'WIDE' group by xmin::text order by 1`);
    expect(await parts()).toEqual([{ count: 1 }, { count: 500 }]);
    expect((await documentOf("WIDE")).positions[0]).toMatchObject({ attendee_name: "Ada" });
    await db.run(sql`drop function stumble cascade`);
    await db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(db, service.workers);
    expect(await findErased(service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect(await parts()).toEqual([{ count: 1 }, { count: 500 }]);
  });

  it("[D3.20] removes files before their rows, and goes on after a crash in between", async () => {
    const broken: Files = { ...files, remove: () => Promise.reject(new Error("the process was killed")) };
    const stumbling = await startForTest(boxoffice, { db, files: broken });
    const request = { ...place, case: randomUUID() };
    await service.deliver(topics.shredRequested, [
      { ...request, kinds: ["question_answers"], again: true, fromLedger: true },
    ]);
    await finishWork(db, stumbling.workers);
    const rows = () => db.one(sql`select count(*)::int from answer_file where event = 'fest'`);
    expect([await rows(), await findErased(service, request)]).toMatchObject([{ count: 1 }, { parts: {} }]);
    await db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(db, service.workers);
    expect(await findErased(service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect([await rows(), await storedFiles()]).toEqual([{ count: 0 }, 0]);
  });
});

describe("what comes after an erasure", () => {
  it("[D4.8] is rejected where a record brings it back, with each field", async () => {
    await erase(service, place, { kinds: ["attendee_info", "phone_numbers", "question_answers"] });
    const errors = (await office.apply(order()))[1] ?? {};
    expect(Object.keys(errors).toSorted()).toEqual(
      [
        ...["attendee_name", "attendee_name_parts", "company", "street", "zipcode", "city"].flatMap((field) => [
          `positions.0.${field}`,
          `positions.1.${field}`,
        ]),
        "phone",
        "positions.0.answers",
      ].toSorted(),
    );
    expect(errors["phone"]).toEqual([expect.stringContaining("erased (phone_numbers)")]);
    expect(Object.keys(await documentOf())).not.toContain("phone");
    await takeFacts(db);
    const nothing = Object.fromEntries(Object.keys(ada).map((field) => [field, null]));
    const left = { attendee_email: ada.attendee_email, country: ada.country, state: ada.state };
    const tickets = [
      position({ id: 1, ...nothing, ...left }),
      position({ id: 2, positionid: 2, secret: "second", canceled: true, ...nothing, ...left }),
    ];
    await take(order({}, { event: "other" }), bare, order({ phone: null, positions: tickets }));
    expect(await takeFacts(db)).toEqual([]);
  });

  it("[D4.8] is rejected where a record says that an order of before was placed later, or moves its tickets to a later one", async () => {
    const later = new Date(Date.now() + 60_000).toISOString();
    await erase(service, place, { kinds: everyKind });
    const redated = (await office.apply(order({ datetime: later })))[1] ?? {};
    expect(Object.keys(redated)).toEqual(expect.arrayContaining(["datetime", "email", "positions.0.attendee_name"]));
    const nothing = { email: null, phone: null, customer: null, invoice_address: null };
    const tickets = [position({ id: 1 }), position({ id: 2, positionid: 2, secret: "second", canceled: true })];
    expect(await office.apply(order({ ...nothing, datetime: later, positions: tickets }))).toEqual({
      1: { datetime: [expect.stringContaining("placed before")] },
    });
    const split = await office.apply(
      order({ ...nothing, positions: [position({ id: 1 })] }),
      order({ code: "SPLIT", datetime: later, positions: [position({ id: 2, secret: "second", ...ada })] }),
    );
    expect(Object.keys(split[2] ?? {})).toEqual(expect.arrayContaining(["email", "positions.0.attendee_name"]));
    expect((await documentOf())["email"]).toBeUndefined();
    await take(
      order({ ...nothing, positions: [position({ id: 1 })] }),
      order({ ...nothing, code: "SPLIT", datetime: later, positions: [position({ id: 2, secret: "second" })] }),
    );
  });

  it("[D4.8] is rejected where an order of before has lost its ticket to a later one in an import before", async () => {
    await erase(service, place, { kinds: everyKind });
    const later = new Date(Date.now() + 60_000).toISOString();
    const nothing = { email: null, phone: null, customer: null, invoice_address: null };
    const taking = (id: number, more: object = {}) =>
      order({ ...nothing, code: "SPLIT", datetime: later, positions: [position({ id, secret: `s${id}`, ...more })] });
    await take(order({ ...nothing, positions: [position({ id: 1 })] }));
    expect(Object.keys((await office.apply(taking(2, ada)))[1] ?? {})).toContain("positions.0.attendee_name");
    await take(order({}, { deleted: true }));
    expect(Object.keys((await office.apply(taking(1, ada)))[1] ?? {})).toContain("positions.0.attendee_name");
    await take(taking(55, ada));
    await take(taking(2));
    const lost = () => db.many(sql`select id from lost_position order by id`);
    expect(await lost()).toEqual([{ id: 1 }, { id: 2 }, { id: 55 }]);
    await take(order({ positions: [position({ id: 1 })] }, { event: "other" }));
    expect(await lost()).toHaveLength(3);
  });

  it("[D4.8] is taken in whole where the order was placed later, and a repetition leaves it", async () => {
    const request = { ...place, case: randomUUID(), kinds: everyKind };
    const next = (datetime: string) =>
      order({
        code: "NEXT",
        datetime,
        positions: [position({ id: 77, secret: "next", ...ada, answers })],
      });
    const aheadBy = (ms: number) => new Date(Date.now() + ms).toISOString();
    // The clock of a shop may be ahead.
    const later = aheadBy(60_000);
    await service.deliver(topics.shredRequested, [{ ...request, again: true, fromLedger: true }]);
    expect(Object.keys((await office.apply(next(later)))[1] ?? {})).toContain("email");
    await finishWork(db, service.workers);
    for (const datetime of ["2026-01-01T00:00:00Z", aheadBy(10 * 60_000), "2099-01-01T00:00:00Z"])
      expect(Object.keys((await office.apply(next(datetime)))[1] ?? {})).toContain("email");
    await take({ ...sample.event({ slug: "fest", date_from: later, live: true }), event: "fest" }, next(later));
    const taken = await documentOf("NEXT");
    expect(taken).toMatchObject({ email: "buyer@example.org", phone: "+4930123456" });
    expect(await findErased(service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    // One of those that were erased has come back, for instance with a backup.
    await db.run(sql`update "order" set data = data || '{"email": "back@example.org"}' where code = 'FULL'`);
    expect((await findErased(service, request)).left).toEqual({ "order_emails order.data": 1 });
    expect(await erase(service, place, request)).toMatchObject({ left: {} });
    expect(await documentOf("NEXT")).toEqual(taken);
    const { fileKey } = await db.one<{ fileKey: string }>(
      sql`select file_key as "fileKey" from answer_file where event = 'fest' and position = 77`,
    );
    expect((await collect(files.list(""))).map(({ key }) => key)).toContain(fileKey);
    expect((await readPosition(db, { id: 77 })).attendeeName).toBe("Ada Quill");
    expect((await documentOf())["email"]).toBeUndefined();
    expect(await erase(service, place, { kinds: everyKind })).toMatchObject({ left: {} });
    expect((await documentOf("NEXT"))["email"]).toBeUndefined();
  });

  it("[D8.1] stays, where the ledger repeats the erasure for a database that has lost it", async () => {
    const { at } = await db.one<{ at: number }>(sql`select clock_timestamp() - interval '1 hour' as at`);
    const [later, ahead] = [at + 1_800_000_000, at + 36_000_000_000].map((each) => new Date(each / 1000).toISOString());
    const next = (more: object) =>
      order({ code: "NEXT", positions: [position({ id: 77, secret: "next", ...ada })], ...more });
    await take(next({ datetime: later }));
    await take(order({ code: "AHEAD", datetime: ahead, positions: [position({ id: 78, secret: "ahead", ...ada })] }));
    const request = { ...place, case: randomUUID(), kinds: [...everyKind] };
    await service.deliver(topics.shredRequested, [{ ...request, again: true, fromLedger: true, requestedAt: at }]);
    await finishWork(db, service.workers);
    expect(await findErased(service, request)).toMatchObject({ state: ErasureState.DONE, left: {} });
    expect(await documentOf("NEXT")).toMatchObject({ email: "buyer@example.org" });
    for (const code of ["FULL", "AHEAD"]) expect((await documentOf(code))["email"]).toBeUndefined();
    await take(next({ datetime: later, comment: "again" }));
    expect(
      Object.keys((await office.apply(next({ code: "OLD", datetime: "2026-01-01T00:00:00Z" })))[1] ?? {}),
    ).toContain("email");
  });

  it("[D4.2] is dropped where a gate sends answers late", async () => {
    await erase(service, place, { kinds: ["question_answers"] });
    await service.deliver(topics.answersGiven, [
      answersFact([given(2, 7, "meat")]),
      answersFact([given(2, 8, "fish")], { event: "other" }),
    ]);
    expect((await readPosition(db)).answers).toEqual([]);
    expect((await readPosition(db, { event: "other" })).answers.map(({ answer }) => answer)).toContain("fish");
  });
});

describe("an export of orders", () => {
  it("[D3.15, D3.16] has the files of the documentation, of canceled tickets too", async () => {
    const read = (file: string) => readExport(service, place, file);
    const { files: described } = await service.connect(PersonalData).describeEvent(place);
    expect(described.map(({ kind, name }) => [kind, name])).toEqual([
      ["attendee_info", "attendee-info.json"],
      ["order_emails", "emails-by-order.json"],
      ["order_emails", "emails-by-attendee.json"],
      ["phone_numbers", "phone-by-order.json"],
      ["invoice_addresses", "invoice-addresses.json"],
      ["question_answers", "question-answers.json"],
      ["question_answers", "question-answers files"],
    ]);
    const who = { name: "Ada Quill", ...address, country: "DE", state: "BE" };
    expect(await read("attendee-info.json")).toEqual({ "FULL-1": who, "FULL-2": who });
    expect(await read("emails-by-order.json")).toEqual({ FULL: "buyer@example.org" });
    expect(await read("emails-by-attendee.json")).toEqual({ "FULL-1": "ada@example.org", "FULL-2": "ada@example.org" });
    expect(await read("phone-by-order.json")).toEqual({ FULL: "+4930123456" });
    expect(await read("invoice-addresses.json")).toEqual({
      FULL: expect.objectContaining({ name: "Ada Quill", ...address }),
    });
  });

  it("[D3.21] composes names that came as parts", async () => {
    const parts = { _scheme: "given_family", given_name: "Grace", family_name: "Example" };
    const named = position({ id: 9, secret: "ninth", attendee_name_parts: parts });
    const nameless = position({ id: 10, positionid: 2, secret: "tenth", attendee_name_parts: { _scheme: "full" } });
    await take(sample.order({ code: "PART", positions: [named, nameless] }));
    const empty = { company: null, street: null, zipcode: null, city: null, country: null, state: null };
    const found = (await readExport(service, place, "attendee-info.json")) as object;
    expect(Object.keys(found)).toEqual(["FULL-1", "FULL-2", "PART-1"]);
    expect(found).toHaveProperty("PART-1", { name: "Grace Example", ...empty });
  });

  it("[D3.16] has the answers of gates beside those of records, and the files that visitors sent", async () => {
    await service.deliver(topics.answersGiven, [answersFact([given(2, 7, "meat")])]);
    const path = "/api/v1/organizers/org/events/fest/orderpositions/1/answer/1/";
    expect(await readExport(service, place, "question-answers.json")).toEqual({
      "FULL-1": [
        expect.objectContaining({ question: 1, answer: path, question_identifier: "PHOTO" }),
        expect.objectContaining({ question: 2, answer: "meat" }),
      ],
    });
    const [name, key] = Object.entries((await readExport(service, place, "question-answers files")) as object)[0] ?? [];
    expect(name).toBe("FULL-1-PHOTO-ada.png");
    expect((await collect(files.list(""))).map((file) => file.key)).toContain(key);
  });

  it("[D3.16] has files that gates alone have asked for, and none where there is none", async () => {
    const names = async () => Object.keys((await readExport(service, place, "question-answers files")) as object);
    await db.run(sql`delete from answer_file where event = 'fest'`);
    expect(await names()).toEqual([]);
    const upload = randomUUID();
    await files.put(`uploads/${upload}`, fileWith("image/png", "at the gate"), { contentType: "image/png" });
    await service.deliver(topics.answersGiven, [answersFact([given(1, 8, "a file", { upload })], { position: 2 })]);
    await finishWork(db, service.workers);
    expect(await names()).toEqual([expect.stringMatching(/^FULL-2-/)]);
  });

  it("[D3.16] reads all orders, page by page", async () => {
    const many = Array.from({ length: 201 }, (_, at) =>
      sample.order({
        code: `A${at}`,
        phone: `+${at}`,
        positions: [position({ id: 100 + at, secret: `many${at}` })],
      }),
    );
    await take(...many);
    expect(Object.keys((await readExport(service, place, "phone-by-order.json")) as object)).toHaveLength(202);
  });
});
