import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { removeNext } from "../leftovers/remove-vouchers.ts";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const eventKey = `${place.organizer}/${place.event}/`;
const eventState = {
  ...place,
  ...{ revision: 1, name: {}, timezone: "UTC", locale: "en", document: new Uint8Array(), hasSubevents: false },
  ticketDownload: undefined,
};
const many = (count: number) => service.create(...Array.from({ length: count }, () => ({})));
const list = () => service.vouchers.listVouchers({ ...place, page: 1, pageSize: 50, ordering: [] });
const vouchersLeft = async () =>
  (await service.db.one<{ count: number }>(sql`select count(*) as count from voucher`)).count;
const retracted = () =>
  service.db.many<{ key: string }>(sql`select outbox.key from outbox where outbox.payload is null order by outbox.id`);
const letADayPass = () => service.db.run(sql`update gone_event set noted_at = noted_at - interval '1 day'`);
const record = {
  ...{ line: 1, kind: "voucher", ...place, deleted: false },
  data: Buffer.from(JSON.stringify({ id: 7, code: "NEW-EVENT" })),
};

describe("vouchers of a deleted event", () => {
  it("[V9.1] are deleted with it, and nothing of it is left", async () => {
    const [{ id } = { id: 0 }] = await service.create({ code: "FIRST", item: 1 }, { quota: 9 });
    await service.deliver(topics.eventChanged, [{ ...eventState, event: "other" }]);
    await service.records.applyRecords({ records: [{ ...record, event: "other" }] });
    await service.deliver(topics.eventChanged, [eventKey]);
    await service.deliver(topics.itemChanged, [`${eventKey}1`, `${eventKey}2`]);
    await service.deliver(topics.quotaChanged, [`${eventKey}9`]);
    expect((await retracted()).map(({ key }) => key)).toContain(`${eventKey}${id}`);
    await expect(list()).rejects.toMatchObject({ kind: "not_found" });
    await service.db.run(sql`update lost_reference set due_at = due_at - interval '2 minutes'`);
    await service.runJob("blank-lost-references");
    await service.runJob("compact-counts");
    const tables = await service.db.many<{ name: string }>(sql`
      select columns.table_name as name
        from information_schema.columns
       where columns.table_schema = current_schema()
         and columns.column_name = 'event'`);
    const left = await Promise.all(
      tables.map(({ name }) =>
        service.db.many<{ name: string }>({
          text: `select '${name}' as name from ${name} where event = $1`,
          values: [place.event],
        }),
      ),
    );
    expect(tables.length).toBeGreaterThan(7);
    expect(left.flat()).toEqual([]);
    expect(await vouchersLeft()).toBe(1);
  });

  it("[V9.1, V9.2] are deleted in batches, and the event is not back before that", async () => {
    await many(2500);
    await service.deliver(topics.eventChanged, [eventKey, { ...eventState, revision: 2 }]);
    expect(await vouchersLeft()).toBe(1500);
    await expect(list()).rejects.toMatchObject({ code: "voucher_event_not_found" });
    await expect(service.createOne()).rejects.toMatchObject({ code: "voucher_event_not_found" });
    expect(await retracted()).toHaveLength(1000);
    await service.db.run(sql`delete from outbox`);
    await service.runJob("remove-gone-events");
    expect((await list()).count).toBe(0);
    expect(await retracted()).toHaveLength(1500);
    await service.createOne({ code: "NEW-EVENT" });
    await service.runJob("remove-gone-events");
    expect((await list()).count).toBe(1);
  });

  it("[V9.2] keep records of the new event waiting, which help to delete them", async () => {
    await many(2500);
    await service.deliver(topics.eventChanged, [eventKey, { ...eventState, revision: 2 }]);
    expect(await service.records.applyRecords({ records: [record] })).toMatchObject({ rejected: [] });
    expect((await list()).vouchers).toMatchObject([{ id: 7 }]);
  });

  it("[V9.1] are deleted wherever a process is killed, and by many at once", async () => {
    await many(1030);
    await service.deliver(topics.eventChanged, [eventKey]);
    const batch = async (after: number) => {
      const killed = service.db.transaction(async (tx) => {
        await removeNext(tx, place, { after, limit: 4 });
        throw new Error("killed");
      });
      await expect(killed).rejects.toThrow("killed");
      return service.db.transaction((tx) => removeNext(tx, place, { after, limit: 4 }));
    };
    const remove = async () => {
      for (let after: number | undefined = 0; after !== undefined; ) after = await batch(after);
    };
    await Promise.all([remove(), remove(), service.deliver(topics.eventChanged, [{ ...eventState, revision: 2 }])]);
    expect(await vouchersLeft()).toBe(0);
    expect(new Set((await retracted()).map(({ key }) => key)).size).toBe(1030);
    expect(await retracted()).toHaveLength(1030);
    expect((await list()).count).toBe(0);
  });

  it("[V9.1] are deleted also where they are created at the same moment", async () => {
    const creating = Array.from({ length: 30 }, () => service.createOne().catch(() => undefined));
    await service.deliver(topics.eventChanged, [eventKey]);
    await Promise.all(creating);
    await service.runJob("remove-gone-events");
    expect(await vouchersLeft()).toBe(0);
    await service.deliver(topics.eventChanged, [{ ...eventState, revision: 2 }]);
    expect((await list()).count).toBe(0);
  });

  it("[V9.3] stay for a day where only a rebuild left the event out, and come back with it", async () => {
    await service.createOne();
    await service.sweep(topics.eventChanged, 2);
    await service.runJob("remove-gone-events");
    await expect(list()).rejects.toMatchObject({ kind: "not_found" });
    await service.deliver(topics.eventChanged, [{ ...eventState, revision: 3 }]);
    expect((await list()).count).toBe(1);
    await letADayPass();
    await service.runJob("remove-gone-events");
    expect((await list()).count).toBe(1);
    await service.sweep(topics.eventChanged, 4);
    await letADayPass();
    await service.runJob("remove-gone-events");
    expect(await vouchersLeft()).toBe(0);
  });
});
