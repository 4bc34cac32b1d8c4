import { sql } from "@tessera/kit/pg/sql";
import type { VoucherUseChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { topics } from "@tessera/protos/topics";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const noon = Date.UTC(2026, 10, 1, 12) * 1000;
const hour = 3_600_000_000;

interface State {
  readonly revision: number;
  readonly voucher: number;
  readonly status?: OrderStatus;
  readonly canceled?: boolean;
  readonly budget?: string;
  readonly placed?: number;
  readonly since?: number;
}

function fact(
  id: number,
  { revision, voucher, status = OrderStatus.PAID, canceled = false, budget, placed = noon, since = placed }: State,
): VoucherUseChanged {
  return {
    ...place,
    id,
    revision,
    voucher,
    canceled,
    budgetUse: budget,
    orderStatus: status,
    since,
  };
}

const gone = (id: number) => `${place.organizer}/${place.event}/${id}`;
const deliver = (...facts: (VoucherUseChanged | string)[]) => service.deliver(topics.voucherUseChanged, facts);
const countOf = async (id: number) => {
  const { voucher } = await service.vouchers.getVoucher({ ...place, id });
  return [voucher?.redeemed, voucher?.budgetUsed];
};
const published = async () =>
  (await service.db.one<{ count: number }>(sql`select count(*) as count from outbox`)).count;

describe("uses of a voucher", () => {
  it("[V6.1, V6.2] follow the state of its positions and their orders", async () => {
    const { id } = await service.createOne({ maxUsages: 9 });
    await deliver(
      fact(1, { revision: 1, voucher: id, budget: "5.00" }),
      fact(2, { revision: 1, voucher: id, budget: "2.50" }),
    );
    expect(await countOf(id)).toEqual([2, "7.50"]);
    await deliver(fact(1, { revision: 2, voucher: id, budget: "5.00", status: OrderStatus.PENDING }));
    expect(await countOf(id)).toEqual([2, "7.50"]);
    await deliver(fact(1, { revision: 3, voucher: id, budget: "5.00", status: OrderStatus.EXPIRED }));
    expect(await countOf(id)).toEqual([1, "2.50"]);
    await deliver(fact(2, { revision: 2, voucher: id, budget: "2.50", canceled: true }));
    expect(await countOf(id)).toEqual([0, "0.00"]);
    await deliver(fact(1, { revision: 4, voucher: id, budget: "5.00" }));
    expect(await countOf(id)).toEqual([1, "5.00"]);
    const other = await service.createOne();
    await deliver(fact(1, { revision: 5, voucher: other.id, budget: "1.00" }));
    expect([await countOf(id), await countOf(other.id)]).toEqual([
      [0, "0.00"],
      [1, "1.00"],
    ]);
    await deliver(gone(1));
    expect(await countOf(other.id)).toEqual([0, "0.00"]);
  });

  it("[V6.3] count once, though a state comes again or after a later one", async () => {
    const { id } = await service.createOne({ maxUsages: 9 });
    const states = [
      fact(1, { revision: 1, voucher: id }),
      fact(1, { revision: 2, voucher: id, canceled: true }),
      fact(1, { revision: 3, voucher: id }),
    ] as const;
    await deliver(states[2]);
    const before = await published();
    for (const state of [...states, ...states]) await deliver(state);
    expect(await countOf(id)).toEqual([1, "0.00"]);
    expect(await published()).toBe(before);
  });

  it("[V6.3] are equal to a recount, in whatever order states arrive", async () => {
    const { id } = await service.createOne({ maxUsages: 99 });
    const states = Array.from({ length: 60 }, (_, index) =>
      fact(1 + (index % 5), {
        revision: 1 + Math.floor(index / 5),
        voucher: id,
        canceled: (index * 7) % 3 === 0,
        budget: "1.10",
      }),
    );
    const shuffled = states
      .map((state, index) => ({ state, at: (index * 37) % 60 }))
      .sort((one, two) => one.at - two.at);
    await Promise.all(
      [0, 1, 2].map(async (part) => {
        for (const { state } of shuffled.filter(({ state }) => state.id % 3 === part)) await deliver(state);
      }),
    );
    const last = states.slice(-5).filter(({ canceled }) => !canceled);
    expect(await countOf(id)).toEqual([last.length, (last.length * 1.1).toFixed(2)]);
  });

  it("[V6.4] of a deleted position are taken back", async () => {
    const { id } = await service.createOne();
    await deliver(fact(1, { revision: 1, voucher: id }));
    await deliver(gone(1));
    expect(await countOf(id)).toEqual([0, "0.00"]);
  });

  it("[V6.9] are what vouchers count, again after a rebuild: of positions that are gone, and where a count is wrong", async () => {
    const [first, second, third] = await service.create({ maxUsages: 9 }, { maxUsages: 9 }, { maxUsages: 9 });
    const [one = 0, two = 0, three = 0] = [first, second, third].map((voucher) => voucher?.id);
    await deliver(
      fact(1, { revision: 5, voucher: one, budget: "1.00" }),
      fact(2, { revision: 11, voucher: two, budget: "2.00" }),
      fact(3, { revision: 12, voucher: three, budget: "3.00" }),
    );
    await service.db.run(sql`update voucher set redeemed = 7, budget_used = 99 where id = ${two}`);
    const before = await published();
    await service.sweep(topics.voucherUseChanged, 10);
    expect([await countOf(one), await countOf(two), await countOf(three)]).toEqual([
      [0, "0.00"],
      [1, "2.00"],
      [1, "3.00"],
    ]);
    expect(await published()).toBe(before + 2);
  });

  it("[V6.5] keep a voucher from being deleted, also after they were canceled", async () => {
    const { id } = await service.createOne();
    await deliver(fact(1, { revision: 1, voucher: id, canceled: true }));
    await expect(service.vouchers.deleteVoucher({ ...place, id })).rejects.toMatchObject({ code: "voucher_used" });
  });
});

describe("a record of a voucher", () => {
  const apply = async (data: object) => {
    const record = { line: 1, kind: "voucher", ...place, deleted: false, data: Buffer.from(JSON.stringify(data)) };
    expect((await service.records.applyRecords({ records: [record] })).rejected).toEqual([]);
  };
  const asOf = new Date(noon / 1000).toISOString();
  const record = { id: 7, code: "IMPORTED", max_usages: 20, redeemed: 3, budget_used: "30.00", as_of: asOf };

  it("[V6.6] contains the orders before its moment, whichever arrives first", async () => {
    const early = fact(1, { revision: 1, voucher: 7, budget: "10.00", placed: noon - hour });
    const late = fact(2, { revision: 1, voucher: 7, budget: "4.00", placed: noon + hour });
    await deliver(early);
    await apply(record);
    expect(await countOf(7)).toEqual([3, "30.00"]);
    await deliver(late, fact(3, { revision: 1, voucher: 7, budget: "10.00", placed: noon - 2 * hour }));
    expect(await countOf(7)).toEqual([4, "34.00"]);
    // Later changes move the counts, also of an order that the record contains.
    await deliver(fact(1, { revision: 2, voucher: 7, budget: "10.00", placed: noon - hour, canceled: true }));
    await deliver(fact(3, { revision: 2, voucher: 7, placed: noon - 2 * hour, status: OrderStatus.CANCELED }));
    expect(await countOf(7)).toEqual([2, "14.00"]);
  });

  it("[V6.7] that comes again leaves the counts; one of a later moment replaces them", async () => {
    await apply(record);
    await deliver(fact(2, { revision: 1, voucher: 7, budget: "4.00", placed: noon + hour }));
    const before = await published();
    await apply(record);
    expect([await countOf(7), await published()]).toEqual([[4, "34.00"], before]);
    await apply({
      ...record,
      redeemed: 4,
      budget_used: "34.00",
      as_of: new Date((noon + 2 * hour) / 1000).toISOString(),
    });
    expect(await countOf(7)).toEqual([4, "34.00"]);
    await deliver(fact(2, { revision: 2, voucher: 7, placed: noon + hour, canceled: true }));
    expect(await countOf(7)).toEqual([3, "30.00"]);
  });

  it("[V6.11] of a later moment does not contain a use that its shop ended before that", async () => {
    await deliver(
      ...[1, 2].map((id) => fact(id, { voucher: 7, revision: 1, budget: "10.00", placed: noon - 2 * hour })),
    );
    await service.deliver(topics.voucherUseChanged, [gone(1)], { deletedAt: noon - hour, at: noon + hour });
    await apply(record);
    expect(await countOf(7)).toEqual([3, "30.00"]);
    await service.deliver(topics.voucherUseChanged, [gone(2)], { deletedAt: noon + 1, at: noon + hour });
    expect(await countOf(7)).toEqual([2, "20.00"]);
  });

  it("[V6.4] contains a use that ends: with its position, with its voucher, and after it was canceled", async () => {
    const early = { voucher: 7, placed: noon - hour, budget: "10.00" };
    await deliver(...[1, 2, 3].map((id) => fact(id, { ...early, revision: 1 })));
    await apply(record);
    const since = noon + hour;
    await deliver(gone(1), fact(2, { ...early, revision: 2, voucher: 8, since }));
    expect(await countOf(7)).toEqual([1, "10.00"]);
    await deliver(fact(3, { ...early, revision: 2, canceled: true, since }));
    await deliver(gone(3));
    expect(await countOf(7)).toEqual([0, "0.00"]);
    await service.vouchers.deleteVoucher({ ...place, id: 7 });
    await apply(record);
    await deliver(...[2, 3].map((id) => fact(id, { ...early, revision: 3, since: since + hour })));
    expect(await countOf(7)).toEqual([2, "20.00"]);
  });

  it("[V6.10] does not contain a position that came to name the voucher after it, whatever the date of its order", async () => {
    await apply(record);
    await deliver(fact(1, { revision: 1, voucher: 7, placed: noon - hour, budget: "4.00", since: noon + hour }));
    expect(await countOf(7)).toEqual([4, "34.00"]);
    await deliver(fact(2, { revision: 1, voucher: 7, placed: noon - 2 * hour, since: noon - hour }));
    expect(await countOf(7)).toEqual([4, "34.00"]);
  });

  it.each([
    ["the record is being stored", sql`lock table voucher in share mode`, "record"],
    ["the use is being stored", sql`lock table current_use in share mode`, "use"],
  ] as const)(
    "[V6.6] that is the first of its voucher counts once beside the first use: %s",
    async (_, lock, first) => {
      const acts = [
        () => apply({ ...record, redeemed: 0, budget_used: "0.00" }),
        () => deliver(fact(1, { revision: 1, voucher: 7, budget: "5.00", placed: noon + hour })),
        () => deliver(fact(2, { revision: 1, voucher: 7, budget: "9.00", placed: noon - hour })),
      ];
      const underWay: Promise<unknown>[] = [];
      await service.db.transaction(async (tx) => {
        await tx.run(lock);
        for (const [index, act] of (first === "record" ? acts : acts.reverse()).entries()) {
          underWay.push(act());
          await untilWaiting(service.db, index + 1);
        }
      });
      await Promise.all(underWay);
      expect(await countOf(7)).toEqual([1, "5.00"]);
      await service.sweep(topics.voucherUseChanged, 1);
      expect(await countOf(7)).toEqual([1, "5.00"]);
    },
  );
});
