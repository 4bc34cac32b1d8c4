import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const key = (id: number) => `${place.organizer}/${place.event}/${id}`;
const item = {
  ...{ ...place, id: 2, revision: 1, name: {}, admission: true, position: 0, checkinAttention: false },
  document: new Uint8Array(),
};
const variation = { id: 0, value: {}, position: 0, checkinAttention: false };
const itemWith = (revision: number, ...ids: number[]) => ({
  ...item,
  revision,
  variations: ids.map((id) => ({ ...variation, id })),
});
const quota = { ...place, id: 9, revision: 2, items: [1, 2], variations: [21, 22], subevent: undefined };
const everything = { item: undefined, variation: undefined, quota: undefined };

const fieldsOf = async (id: number) => (await service.vouchers.getVoucher({ ...place, id })).voucher?.fields;
const factsOf = async (id: number) => {
  const rows = await service.db.many<{ payload: Buffer }>(
    sql`select outbox.payload from outbox where outbox.key = ${key(id)} order by outbox.id`,
  );
  return rows.map(({ payload }) => topics.voucherChanged.decode(payload));
};
const runLater = async () => {
  await service.db.run(sql`update lost_reference set due_at = due_at - interval '2 minutes'`);
  await service.runJob("blank-lost-references");
};
const lost = () => service.db.many(sql`select lost_reference.id from lost_reference`);

describe("a voucher for what is deleted", () => {
  it.each([
    ["product", { item: 1, blockQuota: true }, () => service.deliver(topics.itemChanged, [key(1)])],
    ["product of its variation", { item: 2, variation: 21 }, () => service.deliver(topics.itemChanged, [key(2)])],
    ["variation", { item: 2, variation: 21 }, () => service.deliver(topics.itemChanged, [itemWith(2, 22)])],
    ["quota", { quota: 9 }, () => service.deliver(topics.quotaChanged, [key(9)])],
  ])("[V9.4] is for everything once its %s is gone: one fact, in a later revision", async (name, fields, remove) => {
    const [named, other] = await service.create(fields, { item: 2, variation: 22 });
    const before = await service.vouchers.getVoucher({ ...place, id: named?.id ?? 0 });
    await remove();
    await runLater();
    await runLater();
    const after = await fieldsOf(named?.id ?? 0);
    expect(after).toEqual({ ...before.voucher?.fields, ...everything });
    const [first, second, ...more] = await factsOf(named?.id ?? 0);
    expect(second?.revision).toBeGreaterThan(first?.revision ?? 0);
    expect(second).toMatchObject({ voucher: { fields: after } });
    expect(more).toEqual([]);
    expect(await factsOf(other?.id ?? 0)).toHaveLength(name === "product of its variation" ? 2 : 1);
    expect(await lost()).toEqual([]);
  });

  it("[V9.4] is for everything also where a request stores it behind the deletion", async () => {
    const { id } = await service.createOne({ item: 1 });
    await service.deliver(topics.itemChanged, [key(1)]);
    // Like a transaction that has looked the product up before its deletion.
    await service.db.run(sql`update voucher set item = 1 where voucher.id = ${id}`);
    await service.runJob("blank-lost-references");
    expect(await fieldsOf(id)).toMatchObject(everything);
    expect(await lost()).toHaveLength(1);
  });

  it("[V9.4] that comes as a record behind the deletion is taken as it was sent, with a warning", async () => {
    await service.deliver(topics.itemChanged, [key(1)]);
    const data = Buffer.from(JSON.stringify({ id: 7, code: "LATE", item: 1 }));
    const answer = await service.records.applyRecords({
      records: [{ line: 1, kind: "voucher", ...place, deleted: false, data }],
    });
    expect(answer).toMatchObject({ rejected: [], warned: { records: [{ errors: [{ field: "item" }] }] } });
  });

  it("[V9.4] is changed in batches, once each, by many processes at once and beside other changes", async () => {
    const made = await service.create(...Array.from({ length: 1300 }, (_, at) => (at % 2 === 0 ? { item: 1 } : {})));
    const [first] = made;
    const changing = Array.from({ length: 3 }, (_, at) => service.update(first?.id ?? 0, { tag: `tag ${at}` }));
    await Promise.all([service.deliver(topics.itemChanged, [key(1)]), ...changing]);
    const job = () => service.runJob("blank-lost-references");
    await Promise.all([job(), job(), job()]);
    const { count } = await service.db.one<{ count: number }>(
      sql`select count(*) as count from voucher where voucher.item is not null`,
    );
    expect(count).toBe(0);
    const facts = await service.db.many<{ count: number }>(
      sql`select count(*) as count from outbox where outbox.key <> ${key(first?.id ?? 0)} group by outbox.key`,
    );
    expect(facts.filter(({ count: times }) => times === 2)).toHaveLength(649);
    expect(facts.filter(({ count: times }) => times === 1)).toHaveLength(650);
    expect(await fieldsOf(first?.id ?? 0)).toMatchObject({ tag: expect.stringContaining("tag"), ...everything });
  });

  it("[V9.5] keeps what is back by then", async () => {
    const { id } = await service.createOne({ item: 2, variation: 21 });
    const byQuota = await service.createOne({ quota: 9 });
    await service.deliver(topics.itemChanged, [key(2), itemWith(2, 21)]);
    await service.deliver(topics.quotaChanged, [key(9), quota]);
    await runLater();
    expect(await fieldsOf(id)).toMatchObject({ item: 2, variation: 21 });
    expect(await fieldsOf(byQuota.id)).toMatchObject({ quota: 9 });
    // An older state is ignored.
    await service.deliver(topics.itemChanged, [itemWith(1)]);
    await runLater();
    expect(await fieldsOf(id)).toMatchObject({ variation: 21 });
  });

  it("[V9.5] keeps for a day what only a rebuild left out", async () => {
    const { id } = await service.createOne({ item: 1 });
    const byQuota = await service.createOne({ quota: 9 });
    await service.sweep(topics.itemChanged, 2);
    await service.sweep(topics.quotaChanged, 2);
    await runLater();
    expect(await fieldsOf(id)).toMatchObject({ item: 1 });
    await service.deliver(topics.quotaChanged, [{ ...quota, revision: 3 }]);
    await service.db.run(sql`update lost_reference set due_at = due_at - interval '1 day'`);
    await runLater();
    expect(await fieldsOf(id)).toMatchObject(everything);
    expect(await fieldsOf(byQuota.id)).toMatchObject({ quota: 9 });
  });
});
