import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { prepareShop, reserve, type SoldState, shopAsk, soldFact } from "../testing/shop-asks.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await prepareShop(service);
});

const countOf = async (id: number) => {
  const { voucher } = await service.vouchers.getVoucher({ ...place, id });
  return [voucher?.redeemed, voucher?.budgetUsed];
};
const confirm = (reservation: string, ...positions: number[]) =>
  service.shop.confirmReservation({ ...place, reservation, positions });

describe("a confirmed use and the states of its position", () => {
  const sell = async (position: number) => {
    const { id } = await service.createOne({
      code: "SOLD-OUT",
      maxUsages: 9,
      priceMode: "subtract",
      value: "10.00",
      budget: "50.00",
    });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["SOLD-OUT"] });
    return { id, sold: () => confirm(reservation, position) };
  };
  const deliver = (state: SoldState) => service.deliver(topics.voucherUseChanged, [soldFact(501, state)]);

  it("[V8.9] count once, whichever comes first", async () => {
    const { id, sold } = await sell(501);
    await sold();
    await deliver({ revision: 1, voucher: id, budget: "9.00" });
    expect(await countOf(id)).toEqual([1, "9.00"]);
    await deliver({ revision: 2, voucher: id, budget: "9.00", canceled: true });
    expect(await countOf(id)).toEqual([0, "0.00"]);
  });

  it("[V8.9] count once, though the state comes before the confirmation", async () => {
    const { id, sold } = await sell(501);
    await deliver({ revision: 1, voucher: id, budget: "10.00" });
    await sold();
    expect(await countOf(id)).toEqual([1, "10.00"]);
    const { answers } = await service.shop.checkVouchers({ ...place, asks: [shopAsk("SOLD-OUT")] });
    expect(answers).toMatchObject([{ outcome: { value: { usesLeft: 8, budgetLeft: "40.00" } } }]);
  });

  it("[V8.9] count not at all if the position was canceled or deleted before the confirmation", async () => {
    const { id, sold } = await sell(501);
    await deliver({ revision: 1, voucher: id, canceled: true });
    await sold();
    expect(await countOf(id)).toEqual([0, "0.00"]);
    const other = randomUUID();
    await reserve(service, { reservation: other, codes: ["SOLD-OUT"] });
    await service.deliver(topics.voucherUseChanged, [soldFact(502, { revision: 1, voucher: id })]);
    await service.deliver(topics.voucherUseChanged, [`${place.organizer}/${place.event}/502`]);
    await confirm(other, 502);
    expect(await countOf(id)).toEqual([0, "0.00"]);
  });

  it.each([
    ["the deletion is being noted", sql`lock table ended_use in exclusive mode`, "deletion"],
    ["the confirmation is being stored", sql`lock table current_use in share mode`, "confirmation"],
  ] as const)("[V8.9] count not at all if the position is deleted at the same moment: %s", async (_, lock, first) => {
    const { id, sold } = await sell(501);
    const remove = () => service.deliver(topics.voucherUseChanged, [`${place.organizer}/${place.event}/501`]);
    const acts = first === "deletion" ? [remove, sold] : [sold, remove];
    const underWay: Promise<unknown>[] = [];
    await service.db.transaction(async (tx) => {
      await tx.run(lock);
      for (const act of acts) {
        underWay.push(act());
        await sleep(200);
      }
    });
    await Promise.all(underWay);
    expect(await countOf(id)).toEqual([0, "0.00"]);
  });

  it("[V8.9] move to the voucher that the position names", async () => {
    const { id, sold } = await sell(501);
    const other = await service.createOne({ code: "OTHER" });
    await sold();
    await deliver({ revision: 1, voucher: other.id });
    expect([await countOf(id), await countOf(other.id)]).toEqual([
      [0, "0.00"],
      [1, "0.00"],
    ]);
    await deliver({ revision: 2 });
    expect(await countOf(other.id)).toEqual([0, "0.00"]);
  });

  it("[V8.10] stay counted through a rebuild that does not know the position yet", async () => {
    const { id, sold } = await sell(501);
    await sold();
    await service.deliver(topics.voucherUseChanged, [soldFact(502, { revision: 1, voucher: id })]);
    await service.sweep(topics.voucherUseChanged, 1000);
    expect(await countOf(id)).toEqual([1, "10.00"]);
    await deliver({ revision: 1001, voucher: id, budget: "10.00" });
    await service.sweep(topics.voucherUseChanged, 2000);
    expect(await countOf(id)).toEqual([0, "0.00"]);
  });

  describe("[V8.9] count once beside a record of the voucher", () => {
    const noon = Date.now() * 1000;
    const hour = 3_600_000_000;
    const apply = async (redeemed: number, asOf: number) => {
      const data = {
        id: 7,
        code: "IMPORTED",
        max_usages: 20,
        redeemed,
        budget_used: "0.00",
        as_of: new Date(asOf / 1000).toISOString(),
      };
      const record = { line: 1, kind: "voucher", ...place, deleted: false, data: Buffer.from(JSON.stringify(data)) };
      expect((await service.records.applyRecords({ records: [record] })).rejected).toEqual([]);
    };
    const sellImported = async () => {
      const reservation = randomUUID();
      await reserve(service, { reservation, codes: ["IMPORTED"] });
      return () => confirm(reservation, 501);
    };

    it("that contains the order, but not its confirmation", async () => {
      await apply(3, noon - hour);
      const sold = await sellImported();
      await sold();
      expect(await countOf(7)).toEqual([4, "0.00"]);
      await deliver({ revision: 1, voucher: 7, placed: noon - 2 * hour });
      expect(await countOf(7)).toEqual([3, "0.00"]);
      await deliver({ revision: 2, voucher: 7, placed: noon - 2 * hour, canceled: true });
      expect(await countOf(7)).toEqual([2, "0.00"]);
    });

    it("that contains its confirmation", async () => {
      await apply(3, noon - hour);
      const sold = await sellImported();
      await sold();
      await apply(4, noon + hour);
      expect(await countOf(7)).toEqual([4, "0.00"]);
      await deliver({ revision: 1, voucher: 7, placed: noon, canceled: true });
      expect(await countOf(7)).toEqual([3, "0.00"]);
    });

    it("that contains neither", async () => {
      await apply(3, noon - hour);
      const sold = await sellImported();
      await sold();
      await deliver({ revision: 1, voucher: 7, placed: noon });
      expect(await countOf(7)).toEqual([4, "0.00"]);
    });
  });
});
