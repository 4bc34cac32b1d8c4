import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { place, voucherFact } from "../testing/facts.ts";
import { startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

const kept = async () =>
  (await checkin.db.many<{ code: string }>(sql`select voucher.code from voucher order by voucher.id`)).map(
    ({ code }) => code,
  );
const deliver = (...facts: Parameters<typeof checkin.deliver<ReturnType<typeof voucherFact>>>[1]) =>
  checkin.deliver(topics.voucherChanged, facts);

describe("the code of a voucher", () => {
  it("is kept, whether it was redeemed or not, and changes with it", async () => {
    await deliver(voucherFact(1, { redeemed: 0 }), voucherFact(2));
    expect(await kept()).toEqual(["CODE-1", "CODE-2"]);
    await deliver(voucherFact(2, { revision: 2, redeemed: 0, code: "RENAMED" }));
    expect(await kept()).toEqual(["CODE-1", "RENAMED"]);
    await deliver(voucherFact(2, { revision: 1 }));
    expect(await kept()).toEqual(["CODE-1", "RENAMED"]);
  });

  it("goes with its voucher, and one that comes again has its new code", async () => {
    const key = `${place.organizer}/${place.event}/1`;
    await deliver(voucherFact(1, { revision: 9 }));
    await deliver(key, voucherFact(1, { revision: 3, code: "NEW" }));
    expect(await kept()).toEqual(["NEW"]);
    await deliver(key);
    expect(await kept()).toEqual([]);
  });

  it("that a rebuild does not repeat was of a voucher that is gone", async () => {
    await deliver(voucherFact(1), voucherFact(2));
    await deliver(voucherFact(2, { revision: 11, redeemed: 0 }));
    await checkin.sweep(topics.voucherChanged, 10);
    expect(await kept()).toEqual(["CODE-2"]);
  });
});
