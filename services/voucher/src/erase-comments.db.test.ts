import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { PersonalData } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { erase, findErased, readExport } from "@tessera/testkit/erase";
import { finishWork } from "@tessera/testkit/finish-work";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newVoucher, place, type RunningVoucher, startVoucher } from "./testing/start-voucher.ts";

let database: TestDatabase;
let service: RunningVoucher;

const elsewhere = { organizer: place.organizer, event: "afterparty" };
const guest = "Ada Quillfeather <ada@example.org>";
const tag = "waiting-list";

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "voucher", migrations: new URL("../migrations/", import.meta.url) }]);
  service = await startVoucher(database.open("voucher"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await service.reset();
  for (const { event } of [place, elsewhere]) await service.prepareEvent({ event });
});

const kinds = ["waiting_list"];
const comments = async ({ organizer, event }: typeof elsewhere = place) => {
  const rows = await service.db.many<{ code: string; comment: string }>(sql`
    select code, comment from voucher where organizer = ${organizer} and event = ${event} order by id`);
  return Object.fromEntries(rows.map(({ code, comment }) => [code, comment]));
};
/** What was told of vouchers last, by code. */
async function told(): Promise<Record<string, string>> {
  const rows = await service.db.many<{ payload: Buffer }>(
    sql`select payload from outbox where topic = ${topics.voucherChanged.name} order by id`,
  );
  const facts = rows.map(({ payload }) => topics.voucherChanged.decode(payload).voucher?.fields);
  return Object.fromEntries(facts.map((fields) => [fields?.code ?? "", fields?.comment ?? ""]));
}
const importOne = async (fields: object, at: typeof elsewhere = place) => {
  const data = Buffer.from(JSON.stringify({ id: 7, code: "IMPORTED", ...fields }));
  const { rejected } = await service.records.applyRecords({
    records: [{ line: 1, kind: "voucher", ...at, deleted: false, data }],
  });
  return rejected.flatMap(({ errors }) => errors.map(({ field, messages }) => [field, messages[0]]));
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

  it("[D3.2] goes on after a crash between two stretches, and counts each comment once", async () => {
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
    await service.deliver(topics.shredRequested, [{ ...request, kinds }]);
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
    await service.deliver(topics.shredRequested, [{ ...request, kinds: ["attendee_info"] }]).catch(() => {});
    await finishWork(service.db, service.workers);
    expect((await findErased(service, request)).parts).toEqual({ "attendee_info dead_letter.payload": 1 });
    expect(await left()).toEqual([{ key: "bigevents/sampleconf/2" }, { key: "bigevents/sampleconf2/1" }]);
  });
});

describe("comments that come after an erasure", () => {
  it("[D4.5] by a record are rejected, where they name a guest", async () => {
    const sent = { tag, comment: guest };
    expect(await importOne(sent)).toEqual([]);
    await erase(service, place, { kinds });
    expect(await importOne(sent)).toEqual([["comment", expect.stringContaining("erased (waiting_list)")]]);
    expect(await comments()).toEqual({ IMPORTED: "█" });
    for (const harmless of [{ tag, comment: "█" }, { tag }, { tag: "press", comment: "for the press" }])
      expect(await importOne(harmless)).toEqual([]);
    await service.deliver(topics.eventChanged, []);
    expect(await importOne(sent, elsewhere)).toEqual([]);
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
  // Without vouchers it is what it was in the beginning.
  expect([new Set(seen).size, seen[3]]).toEqual([3, seen[0]]);
});
