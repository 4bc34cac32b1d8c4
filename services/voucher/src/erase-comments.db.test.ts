import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { erase, findErased, readExport } from "@tessera/testkit/erase";
import { finishWork } from "@tessera/testkit/finish-work";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "./testing/database.ts";
import { newVoucher, place, startVoucher } from "./testing/start-voucher.ts";

const elsewhere = { organizer: place.organizer, event: "afterparty" };
const guest = "Ada Quillfeather <ada@example.org>";
const tag = "waiting-list";

const { database, db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  for (const { event } of [place, elsewhere]) await service.prepareEvent({ event });
});

const quiet = createLog({ service: "test", destination: { write: () => {} } });
const kinds = ["waiting_list"];
const comments = async ({ organizer, event }: typeof elsewhere = place) => {
  const rows = await service.db.many<{ code: string; comment: string }>(sql`
    select code, comment from voucher where organizer = ${organizer} and event = ${event} order by id`);
  return Object.fromEntries(rows.map(({ code, comment }) => [code, comment]));
};
/** The comments that were published last, by code. */
async function told(): Promise<Record<string, string>> {
  const rows = await service.db.many<{ payload: Buffer }>(
    sql`select payload from outbox where topic = ${topics.voucherChanged.name} order by id`,
  );
  const facts = rows.map(({ payload }) => topics.voucherChanged.decode(payload).voucher?.fields);
  return Object.fromEntries(facts.map((fields) => [fields?.code ?? "", fields?.comment ?? ""]));
}
const importOne = async (fields: object, at: typeof elsewhere = place) => {
  const data = Buffer.from(JSON.stringify({ id: 7, code: "IMPORTED", ...fields }));
  const { rejected, warned } = await service.records.applyRecords({
    records: [{ line: 1, kind: "voucher", ...at, deleted: false, data }],
  });
  expect(rejected).toEqual([]);
  return (warned?.records ?? []).flatMap(({ errors }) => errors.map(({ field, messages }) => [field, messages[0]]));
};

describe("an erasure of the waiting list", () => {
  it("[D3.7] masks the comments of its vouchers, publishes that, and leaves all else", async () => {
    const requestId = randomUUID();
    await runInContext({ requestId }, () => service.createOne({ code: "GUEST-1", tag, comment: guest }));
    await service.create(
      { code: "GUEST-2", tag, comment: "call them" },
      { code: "SILENT", tag },
      { code: "PRESS", tag: "press", comment: guest },
    );
    const { vouchers } = await service.vouchers.createVouchers({
      ...elsewhere,
      vouchers: [newVoucher({ code: "THERE", tag, comment: guest })],
    });
    expect(vouchers).toHaveLength(1);
    const erased = await erase(service, place, { kinds });
    expect(erased).toMatchObject({
      state: ErasureState.DONE,
      parts: { "waiting_list voucher.comment": 2, "waiting_list answered_request.response": 1 },
      left: {},
    });
    const expected = { "GUEST-1": "█", "GUEST-2": "█", SILENT: "", PRESS: guest };
    expect(await comments()).toEqual(expected);
    expect(await comments(elsewhere)).toEqual({ THERE: guest });
    expect(await told()).toEqual({ ...expected, THERE: guest });
    expect(await erase(service, place, { kinds })).toMatchObject({ parts: {}, left: {} });
  });

  it("[D3.7] leaves comments to an erasure of other kinds", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    expect(await erase(service, place, { kinds: ["attendee_info"] })).toMatchObject({ parts: {}, left: {} });
    expect(await comments()).toEqual({ "GUEST-1": guest });
  });

  it("[D3.7] leaves the comment of a voucher that is for something else by the time it is locked", async () => {
    await service.create({ code: "GUEST-1", tag, comment: guest }, { code: "PRESS", tag, comment: "for the press" });
    const [isChanged, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Under another application name: an erasure waits for transactions of its own service before it reads.
    const other = openDatabase({ url: database.url, schema: "voucher", applicationName: "another", log: quiet });
    const changing = other.transaction(async (tx) => {
      await tx.run(sql`update voucher set tag = 'press' where code = 'PRESS'`);
      isChanged.resolve();
      await goOn.promise;
    });
    await isChanged.promise;
    const erasing = erase(service, place, { kinds });
    await untilWaiting(service.db);
    goOn.resolve();
    await changing;
    expect(await erasing).toMatchObject({ parts: { "waiting_list voucher.comment": 1 }, left: {} });
    expect(await comments()).toEqual({ "GUEST-1": "█", PRESS: "for the press" });
    await other.close();
  });

  it("[D3.2] goes on after a crash between two batches, and counts each comment once", async () => {
    await service.create(...Array.from({ length: 501 }, (_, at) => ({ code: `GUEST-${at}`, tag, comment: guest })));
    await service.db.run(sql`
      create function stumble() returns trigger language plpgsql as $$
      begin
        if (select count(*) from voucher where comment = '█') > 500 then raise exception 'the process was killed'; end if;
        return null;
      end $$`);
    await service.db.run(
      sql`create trigger stumble after update on voucher for each statement execute function stumble()`,
    );
    const request = { ...place, case: randomUUID() };
    await service.deliver(topics.shredRequested, [{ ...request, kinds, again: true, fromLedger: true }]);
    await finishWork(service.db, service.workers);
    expect(await findErased(service, request)).toMatchObject({
      state: ErasureState.RUNNING,
      parts: { "waiting_list voucher.comment": 500 },
    });
    await service.db.run(sql`drop function stumble cascade`);
    await service.db.run(sql`update work set due_at = now() where state = 'waiting'`);
    await finishWork(service.db, service.workers);
    expect(await findErased(service, request)).toMatchObject({
      state: ErasureState.DONE,
      parts: { "waiting_list voucher.comment": 501 },
    });
  });

  it("[D3.17] deletes parked facts of topics that carry its kinds, of its event alone", async () => {
    const park = (topic: string, key: string) =>
      service.db.run(sql`
        insert into dead_letter (consumer, topic, key, fact_id, fact_at, payload, cause)
        values ('voucher', ${topic}, ${key}, gen_random_uuid(), now(), ${Buffer.from("x")}, 'wrong')`);
    const left = () => service.db.many<{ key: string }>(sql`select key from dead_letter order by key`);
    await park(topics.positionChanged.name, "bigevents/sampleconf/1");
    await park(topics.positionChanged.name, "bigevents/sampleconf2/1");
    await park(topics.itemChanged.name, "bigevents/sampleconf/2");
    const request = { ...place, case: randomUUID() };
    await service
      .deliver(topics.shredRequested, [{ ...request, kinds: ["attendee_info"], again: true, fromLedger: true }])
      .catch(() => {});
    await finishWork(service.db, service.workers);
    expect((await findErased(service, request)).parts).toEqual({ "attendee_info dead_letter.payload": 1 });
    expect(await left()).toEqual([{ key: "bigevents/sampleconf/2" }, { key: "bigevents/sampleconf2/1" }]);
  });
});

describe("an event that is to be erased", () => {
  const client = () => service.connect(PersonalData);
  const versionNow = async () => (await client().describeEvent(place)).version;
  const cases = () => service.db.many(sql`select from erasure where not erasure.is_taken_back`);

  it("[D2.4] is closed as it was exported alone, and opened again", async () => {
    const { id } = await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const version = await versionNow();
    const request = { ...place, case: randomUUID(), kinds, version };
    expect(await client().closeEvent({ ...request, version: "another" })).toEqual({
      problem: expect.stringContaining("has changed"),
    });
    expect(await cases()).toEqual([]);
    for (const _time of [1, 2]) expect(await client().closeEvent(request)).toEqual({ problem: undefined });
    const refused = { kind: "conflict", code: "event_being_erased" };
    await expect(service.createOne({ code: "GUEST-2", tag, comment: "a new guest" })).rejects.toMatchObject(refused);
    await expect(service.update(id, { comment: "else" })).rejects.toMatchObject(refused);
    expect(await importOne({ tag, comment: "by a record" })).toMatchObject([["comment", expect.any(String)]]);
    await service.createOne({ code: "PRESS", tag: "press", comment: guest });
    await client().reopenEvent(request);
    await service.createOne({ code: "GUEST-2", tag, comment: "a new guest" });
    expect(await cases()).toEqual([]);
  });

  it("[D2.4] is not closed when what was under way has changed it", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const version = await versionNow();
    const began = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = service.db.transaction(async (tx) => {
      await tx.run(sql`update voucher set comment = 'another guest', revision = revision + 1`);
      began.resolve();
      await goOn.promise;
    });
    await began.promise;
    const closing = client().closeEvent({ ...place, case: randomUUID(), kinds, version });
    await expect.poll(cases).toHaveLength(1);
    goOn.resolve();
    await slow;
    expect(await closing).toEqual({ problem: expect.stringContaining("has changed") });
    expect([await cases(), await comments()]).toEqual([[], { "GUEST-1": "another guest" }]);
  });

  it("[D2.4] stays open once it was opened again, also for a call to close it that comes at the same time or later", async () => {
    for (let round = 0; round < 20; round += 1) {
      const request = { ...place, case: randomUUID(), kinds, version: await versionNow() };
      await Promise.all([client().closeEvent(request), client().reopenEvent(request)]);
      expect(await client().closeEvent(request)).toEqual({ problem: expect.stringContaining("refused before") });
      expect([round, await cases()]).toEqual([round, []]);
    }
    await service.createOne({ code: "GUEST-2", tag, comment: "a new guest" });
    const request = { ...place, case: randomUUID(), kinds, version: await versionNow() };
    expect(await client().closeEvent(request)).toEqual({ problem: undefined });
  });

  it("[D2.3] is closed for one of two cases that begin at the same time", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const version = await versionNow();
    for (let round = 0; round < 20; round += 1) {
      const requests = [1, 2].map(() => ({ ...place, case: randomUUID(), kinds, version }));
      const closed = await Promise.all(requests.map((request) => client().closeEvent(request)));
      const problems = closed.map(({ problem }) => problem).filter((problem) => problem !== undefined);
      expect([round, problems]).toEqual([round, [expect.stringContaining("Another erasure")]]);
      await Promise.all(requests.map((request) => client().reopenEvent(request)));
    }
  });

  it("[D2.3] is closed beside a case that was forgotten", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const close = async () => client().closeEvent({ ...place, case: randomUUID(), kinds, version: await versionNow() });
    expect(await close()).toEqual({ problem: undefined });
    expect(await close()).toEqual({ problem: expect.stringContaining("Another erasure") });
    await service.db.run(sql`update erasure set requested_at = erasure.requested_at - interval '61 minutes'`);
    expect(await close()).toEqual({ problem: undefined });
  });

  it("[D2.4] stays erased where a call to close it comes after the request", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const request = { ...place, case: randomUUID(), kinds, version: await versionNow() };
    expect(await client().closeEvent(request)).toEqual({ problem: undefined });
    await service.deliver(topics.shredRequested, [{ ...request, again: false, fromLedger: false }]);
    await finishWork(service.db, service.workers);
    const done = await findErased(service, request);
    expect(done).toMatchObject({ state: ErasureState.DONE });
    for (const version of [request.version, await versionNow(), "another"]) {
      expect(await client().closeEvent({ ...request, version })).toEqual({ problem: undefined });
      expect(await findErased(service, request)).toEqual(done);
    }
    expect(await importOne({ tag, comment: guest })).toHaveLength(1);
  });

  it("[D2.4] stays closed for a case that was requested while another one begins", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const [first, second] = [randomUUID(), randomUUID()].map((id) => ({ ...place, case: id, kinds }));
    if (first === undefined || second === undefined) throw new Error("there are two");
    expect(await client().closeEvent({ ...first, version: await versionNow() })).toEqual({ problem: undefined });
    await service.deliver(topics.shredRequested, [{ ...first, again: false, fromLedger: false }]);
    await finishWork(service.db, service.workers);
    expect(await client().closeEvent({ ...second, version: await versionNow() })).toEqual({ problem: undefined });
    expect(await client().closeEvent({ ...first, version: "another" })).toEqual({ problem: undefined });
  });

  it("[D6.8] says whether the request has arrived, and takes one that comes again", async () => {
    await service.createOne({ code: "GUEST-1", tag, comment: guest });
    const request = { ...place, case: randomUUID(), kinds };
    const found = async () => (await client().findErasure({ ...request, withLeft: false })).state;
    await client().closeEvent({ ...request, version: await versionNow() });
    expect(await found()).toBe(ErasureState.CLOSED);
    const send = async (more: { again: boolean }) => {
      await service.deliver(topics.shredRequested, [{ ...request, ...more, fromLedger: false }]);
      await finishWork(service.db, service.workers);
    };
    await send({ again: true });
    expect([await found(), await comments()]).toEqual([ErasureState.DONE, { "GUEST-1": "█" }]);
    await service.createOne({ code: "GUEST-2", tag, comment: "a new guest" });
    await send({ again: true });
    expect(await comments()).toEqual({ "GUEST-1": "█", "GUEST-2": "a new guest" });
  });

  it("[D2.4] is closed, or takes a new comment, whatever comes first: never both", async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const request = { ...place, case: randomUUID(), kinds, version: await versionNow() };
      const [closed, created] = await Promise.allSettled([
        client().closeEvent(request),
        service.createOne({ code: `GUEST-${round}`, tag, comment: guest }),
      ]);
      const isClosed = closed.status === "fulfilled" && closed.value.problem === undefined;
      expect([round, closed.status, isClosed]).toEqual([round, "fulfilled", created.status === "rejected"]);
      outcomes.add(String(isClosed));
      await client().reopenEvent(request);
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });
});

describe("a request for an event that was deleted", () => {
  const isBack = async () => {
    await service.deliver(topics.eventChanged, [`${place.organizer}/${place.event}/`], {
      at: await databaseTime(service.db),
    });
    await service.db.run(sql`delete from voucher`);
    await service.prepareEvent(place);
    await service.createOne({ code: "OF-NEW", tag, comment: guest });
  };

  it("[D4.4] does not touch another one of its name when it comes late", async () => {
    const request = { ...place, case: randomUUID(), kinds };
    const { version } = await service.connect(PersonalData).describeEvent(place);
    expect(await service.connect(PersonalData).closeEvent({ ...request, version })).toEqual({ problem: undefined });
    await isBack();
    await service.deliver(topics.shredRequested, [{ ...request, again: false, fromLedger: false }]);
    await finishWork(service.db, service.workers);
    expect([await comments(), await service.db.many(sql`select from work`)]).toEqual([{ "OF-NEW": guest }, []]);
  });

  it("[D4.4] does not touch another one of its name when it is under way", async () => {
    const request = { ...place, case: randomUUID(), kinds };
    await service.deliver(topics.shredRequested, [{ ...request, again: true, fromLedger: true }]);
    await isBack();
    await finishWork(service.db, service.workers);
    expect(await comments()).toEqual({ "OF-NEW": guest });
    expect(await service.db.one(sql`select state from work where kind = 'erase personal data'`)).toEqual({
      state: "failed",
    });
  });
});

it("[D4.4] an event that a rebuild leaves out takes its erasures along", async () => {
  await erase(service, place, { kinds });
  await service.sweep(topics.eventChanged, 2, { since: await databaseTime(service.db) });
  expect(await service.db.many(sql`select from erasure where cardinality(kinds) > 0`)).toEqual([]);
});

it("[D6.8, D8.1] a request that the ledger repeats erases again what has come since, and counts it", async () => {
  await service.createOne({ code: "GUEST-1", tag, comment: guest });
  const { case: id } = await erase(service, place, { kinds });
  await service.createOne({ code: "GUEST-2", tag, comment: "a new guest" });
  expect(await erase(service, place, { kinds, case: id })).toMatchObject({
    state: ErasureState.DONE,
    parts: { "waiting_list voucher.comment": 2 },
  });
  expect(await comments()).toEqual({ "GUEST-1": "█", "GUEST-2": "█" });
});

describe("comments that come after an erasure", () => {
  it("[D4.5] by a record are left out, where they name a guest", async () => {
    const sent = { tag, comment: guest };
    expect(await importOne(sent)).toEqual([]);
    await erase(service, place, { kinds });
    expect(await importOne(sent)).toEqual([["comment", expect.stringContaining("erased (waiting_list)")]]);
    expect(await comments()).toEqual({ IMPORTED: "" });
    for (const harmless of [{ tag, comment: "█" }, { tag }, { tag: "press", comment: "for the press" }])
      expect(await importOne(harmless)).toEqual([]);
    await service.deliver(topics.eventChanged, []);
    expect(await importOne(sent, elsewhere)).toEqual([]);
  });

  it("[D4.5] by a record are stored, where the voucher was created after the erasure was requested", async () => {
    const sent = { tag, comment: guest };
    const request = { ...place, case: randomUUID(), kinds };
    await service.deliver(topics.shredRequested, [{ ...request, again: true, fromLedger: true }]);
    const aheadBy = (ms: number) => new Date(Date.now() + ms).toISOString();
    // The clock of a shop may be ahead.
    const later = aheadBy(60_000);
    expect(await importOne({ ...sent, created: later })).toHaveLength(1);
    await finishWork(service.db, service.workers);
    const others = ["2020-01-01T00:00:00Z", aheadBy(10 * 60_000), "2099-01-01T00:00:00Z"].entries();
    for (const [at, created] of others)
      expect(await importOne({ ...sent, id: 20 + at, code: `OTHER-${at}`, created })).toHaveLength(1);
    expect(await importOne({ ...sent, created: later })).toEqual([]);
    expect(await comments()).toEqual({ IMPORTED: guest, "OTHER-0": "", "OTHER-1": "", "OTHER-2": "" });
  });

  it("[D4.5] by a record are left out, where it says that a voucher of before was created later", async () => {
    const sent = { tag, comment: guest };
    expect(await importOne({ ...sent, created: "2020-01-01T00:00:00Z" })).toEqual([]);
    await erase(service, place, { kinds });
    const created = new Date(Date.now() + 60_000).toISOString();
    expect(await importOne({ ...sent, created })).toHaveLength(1);
    expect(await comments()).toEqual({ IMPORTED: "" });
  });

  it("[D4.5] are stored where somebody writes them", async () => {
    const { id } = await service.createOne({ code: "GUEST-1", tag, comment: guest });
    await erase(service, place, { kinds });
    expect((await service.update(id, { comment: "asked again" })).fields?.comment).toBe("asked again");
    await service.createOne({ code: "GUEST-2", tag, comment: "a new guest" });
    expect(await comments()).toEqual({ "GUEST-1": "asked again", "GUEST-2": "a new guest" });
  });

  it("[D4.6] are not answered to a repetition, which creates nothing", async () => {
    const requestId = randomUUID();
    const create = () => runInContext({ requestId }, () => service.createOne({ tag, comment: guest }));
    await create();
    await erase(service, place, { kinds });
    await expect(create()).rejects.toMatchObject({ kind: "not_found", code: "answer_erased" });
    expect(Object.values(await comments())).toEqual(["█"]);
  });
});

it("[D3.8] the export has code, comment and tag of the vouchers of the waiting list", async () => {
  const { files } = await service.connect(PersonalData).describeEvent(place);
  expect(files).toEqual([{ kind: "waiting_list", name: "waiting-list.json", shape: "EXPORT_SHAPE_ARRAY" }]);
  const made = Array.from({ length: 51 }, (_, at) => ({ code: `GUEST-${at}`, tag, comment: `${guest} ${at}` }));
  await service.create(...made, { code: "PRESS", tag: "press", comment: guest });
  expect(await readExport(service, place, "waiting-list.json")).toEqual(
    made.map(({ code, comment }) => ({ voucher: code, comment, tag })),
  );
});

it("[D3.18] the export has pages that fit in a message, whatever comments are made of", async () => {
  const comment = `a${"\u0001".repeat(65_534)}a`;
  const made = Array.from({ length: 20 }, (_, at) => ({ code: `GUEST-${at}`, tag, comment }));
  await service.create(...made);
  const client = service.connect(PersonalData);
  const codes: string[] = [];
  for (let after = "", isFirst = true; isFirst || after !== ""; isFirst = false) {
    const { entries, next } = await client.readPersonalData({ ...place, file: "waiting-list.json", after });
    expect(entries.reduce((sum, { json }) => sum + json.length, 0)).toBeLessThan(3 * 2 ** 20);
    codes.push(...entries.map(({ json }) => (JSON.parse(Buffer.from(json).toString()) as { voucher: string }).voucher));
    after = next;
  }
  expect(codes).toEqual(made.map(({ code }) => code));
});

it("[D3.3] the version of an event is another one after each change of a voucher, and the same otherwise", async () => {
  const version = async () => (await service.connect(PersonalData).describeEvent(place)).version;
  const seen = [await version()];
  const { id } = await service.createOne({ tag, comment: guest });
  seen.push(await version());
  await service.update(id, { comment: "else" });
  seen.push(await version());
  await service.vouchers.deleteVoucher({ ...place, id });
  seen.push(await version());
  await service.vouchers.createVouchers({ ...elsewhere, vouchers: [newVoucher({ comment: guest })] });
  expect(await version()).toBe(seen[3]);
  // Without vouchers the version is the initial one.
  expect([new Set(seen).size, seen[3]]).toEqual([3, seen[0]]);
});
