import { randomUUID } from "node:crypto";
import type { Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { beforeEach, describe, expect, it } from "vitest";
import { noteDeletedEvents } from "../store/gone-events.ts";
import { voucherDatabase } from "../testing/database.ts";
import { prepareShop, reserve, soldFact } from "../testing/shop-asks.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await prepareShop(service);
});

const redeemedOf = async (id: number) => (await service.vouchers.getVoucher({ ...place, id })).voucher?.redeemed;
const confirm = (reservation: string, ...positions: number[]) =>
  service.shop.confirmReservation({ ...place, reservation, positions });

/** Begins something while a transaction holds the lock of a voucher, and returns the result of what had to wait. */
async function whileLocked<T>(id: number, begin: () => Promise<T>, work: (tx: Tx) => Promise<void>): Promise<T> {
  const { begun } = await service.db.transaction(async (tx) => {
    await tx.run(sql`select from voucher where voucher.id = ${id} for update`);
    const begun = begin();
    begun.catch(() => {});
    await untilWaiting(service.db);
    await work(tx);
    return { begun };
  });
  return begun;
}

describe("a confirmation", () => {
  const reserveOne = async () => {
    const { id } = await service.createOne({ code: "RESERVED" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["RESERVED"] });
    return { id, reservation };
  };

  it("[V8.9] counts once though the state that names another voucher is being read", async () => {
    const { id, reservation } = await reserveOne();
    const other = await service.createOne({ code: "OTHER" });
    await whileLocked(
      other.id,
      () => service.deliver(topics.voucherUseChanged, [soldFact(501, { revision: 1, voucher: other.id })]),
      async () => void (await confirm(reservation, 501)),
    );
    expect([await redeemedOf(id), await redeemedOf(other.id)]).toEqual([0, 1]);
  });

  it("[V8.9] counts once though the state that names another voucher is being stored", async () => {
    const { id, reservation } = await reserveOne();
    const other = await service.createOne({ code: "OTHER" });
    await service.db.transaction(async (tx) => {
      // Stands for a confirmation that is not committed yet.
      await tx.run(sql`
        insert into current_use (organizer, event, position, revision, voucher, since_at, counts, budget)
        values (${place.organizer}, ${place.event}, 501, 0, ${id}, now(), true, 0)`);
      await tx.run(sql`
        insert into use_sum (organizer, event, voucher, redeemed, budget_used)
        values (${place.organizer}, ${place.event}, ${id}, 1, 0)`);
      await tx.run(sql`update voucher set redeemed = 1 where voucher.id = ${id}`);
      await tx.run(sql`delete from reserved_use where reserved_use.reservation = ${reservation}::uuid`);
      const stored = service.deliver(topics.voucherUseChanged, [soldFact(501, { revision: 1, voucher: other.id })]);
      await untilWaiting(service.db);
      return { stored };
    });
    await expect.poll(async () => [await redeemedOf(id), await redeemedOf(other.id)]).toEqual([0, 1]);
  });

  it("[V8.9] does not count where a position came and went between two deliveries", async () => {
    const { id, reservation } = await reserveOne();
    await service.deliver(topics.voucherUseChanged, [
      soldFact(501, { revision: 1, voucher: id }),
      soldFact(501, { revision: 2 }),
    ]);
    await confirm(reservation, 501);
    expect(await redeemedOf(id)).toBe(0);
  });

  it("waits for the deletion of its event before it locks its reservation", async () => {
    const { id, reservation } = await reserveOne();
    const late = await whileLocked(
      id,
      async () => confirm(reservation, 501).catch((error: unknown) => error),
      async (tx) => {
        await noteDeletedEvents(tx, [place]);
        await tx.run(sql`delete from voucher where voucher.id = ${id}`);
        await tx.run(sql`set local lock_timeout = '500ms'`);
        await tx.run(sql`delete from voucher_reservation where voucher_reservation.reservation = ${reservation}::uuid`);
      },
    );
    expect(late).toMatchObject({ code: "reservation_not_found" });
  });
});

describe("a reservation", () => {
  it("[V8.3] takes nothing of a voucher that got its code behind the lock", async () => {
    const first = await service.createOne({ code: "WANTED" });
    const second = await service.createOne({ code: "SECOND", maxUsages: 5 });
    const late = await whileLocked(
      first.id,
      async () => reserve(service, { reservation: randomUUID(), codes: ["WANTED"] }).catch((error: unknown) => error),
      async (tx) => {
        await tx.run(sql`update voucher set code = 'FORMER' where voucher.id = ${first.id}`);
        await tx.run(sql`update voucher set code = 'WANTED' where voucher.id = ${second.id}`);
      },
    );
    expect(late).toMatchObject({ code: "concurrent_change" });
    const again = await reserve(service, { reservation: randomUUID(), codes: ["WANTED"] });
    expect(again.expiresAt).toBeDefined();
  });
});
