import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import type { VoucherAsk } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { voucherDatabase } from "../testing/database.ts";
import { expire, outcomesOf, prepareShop, reserve, shopAsk, soldFact } from "../testing/shop-asks.ts";
import { place, startVoucher } from "../testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await prepareShop(service);
});

const tenOff = { priceMode: "subtract", value: "10.00" } as const;
const check = (...asks: VoucherAsk[]) => service.shop.checkVouchers({ ...place, asks });
const left = async (code: string) => {
  const [answer] = (await check(shopAsk(code))).answers;
  return answer?.outcome?.$case === "offer" ? answer.outcome.value.usesLeft : 0;
};
const countOf = async (id: number) => {
  const { voucher } = await service.vouchers.getVoucher({ ...place, id });
  return [voucher?.redeemed, voucher?.budgetUsed];
};
const confirm = (reservation: string, ...positions: number[]) =>
  service.shop.confirmReservation({ ...place, reservation, positions });
const release = (reservation: string) => service.shop.releaseReservation({ ...place, reservation });
const published = async () =>
  (await service.db.one<{ count: number }>(sql`select count(*) as count from outbox`)).count;
const rowsLeft = async () =>
  service.db.one<{ uses: number; reservations: number }>(sql`
    select (select count(*) from reserved_use) as uses, (select count(*) from voucher_reservation) as reservations`);

describe("a check", () => {
  it("[V7.1, V7.2] answers in the order of the asks, for codes in any letter case, and takes nothing", async () => {
    await service.create({ code: "TENOFF", ...tenOff }, { code: "GRÜSSE", maxUsages: 2 });
    const asks = [shopAsk(" grüße "), shopAsk("nothing"), shopAsk("tenOFF"), shopAsk("TENOFF")];
    expect(outcomesOf(await check(...asks))).toEqual(["0.00", "UNKNOWN_CODE", "10.00", "10.00"]);
    expect(await left("TENOFF")).toBe(1);
    expect(await rowsLeft()).toEqual({ uses: 0, reservations: 0 });
  });

  it("[V7.2] finds the longest codes, with blanks around them, of any characters", async () => {
    const codes = ["X".repeat(255), "🎟".repeat(255), "É".repeat(255)];
    await service.create(...codes.map((code) => ({ code, ...tenOff })));
    const asks = codes.map((code) => shopAsk(`  ${code.normalize("NFD").toLowerCase()}  `));
    expect(outcomesOf(await check(...asks))).toEqual(["10.00", "10.00", "10.00"]);
  });

  it("[V7.3] has the listed prices of items, variations and dates", async () => {
    await service.reset();
    await prepareShop(service, { hasSubevents: true });
    await service.createOne({ code: "PLAIN" });
    const variation = (id: number, subevent: number) => shopAsk("PLAIN", { item: 2, variation: id, subevent });
    const { answers } = await check(
      shopAsk("PLAIN", { subevent: 5 }),
      shopAsk("PLAIN", { subevent: 6 }),
      variation(21, 5),
      variation(21, 6),
      variation(22, 5),
      variation(22, 6),
      shopAsk("PLAIN", { subevent: 5, price: "7" }),
    );
    expect(
      answers.map(({ outcome }) => (outcome?.$case === "offer" ? outcome.value.priceBefore : outcome?.value.reason)),
    ).toEqual(["20.00", "23.00", "38.00", "45.00", "35.00", "40.00", "7.00"]);
  });

  it("[V7.3] takes a price however a decimal is written", async () => {
    await service.createOne({ code: "PLAIN" });
    const prices = [" 23.00 ", "+23", "2.3e1", "23.", ".5", "-0"];
    const { answers } = await check(...prices.map((price) => shopAsk("PLAIN", { price })));
    const before = answers.map(({ outcome }) => outcome?.$case === "offer" && outcome.value.priceBefore);
    expect(before).toEqual(["23.00", "23.00", "23.00", "23.00", "0.50", "0.00"]);
  });

  it("[V7.4] rounds to the places of the event's currency", async () => {
    await prepareShop(service);
    await service.createOne({ code: "HALF-PRICE", priceMode: "percent", value: "50.00" });
    const asked = shopAsk("HALF-PRICE", { price: "1001.01" });
    expect((await check(asked)).answers).toMatchObject([{ outcome: { value: { price: "500.51" } } }]);
    await service.db.run(sql`update event set document = '{"currency": "JPY"}'`);
    expect((await check(asked)).answers).toMatchObject([{ outcome: { value: { price: "501.00" } } }]);
  });

  it("[V7.6] tells what is sold from what other carts have reserved", async () => {
    const { id } = await service.createOne({ code: "ONCE-ONLY" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["ONCE-ONLY"] });
    expect(outcomesOf(await check(shopAsk("ONCE-ONLY")))).toEqual(["RESERVED"]);
    await confirm(reservation, 501);
    expect(outcomesOf(await check(shopAsk("ONCE-ONLY")))).toEqual(["USED_UP"]);
    expect(await countOf(id)).toEqual([1, "0.00"]);
  });

  it("[V7.6] refuses a seat that another voucher claims", async () => {
    await service.create({ code: "SEAT-ONE", item: 1, seat: "A-1" }, { code: "ANY-SEAT" });
    const outcomes = outcomesOf(
      await check(
        shopAsk("SEAT-ONE", { seat: "A-1" }),
        shopAsk("SEAT-ONE"),
        shopAsk("ANY-SEAT", { seat: "A-1" }),
        shopAsk("ANY-SEAT", { seat: "A-2" }),
      ),
    );
    expect(outcomes).toEqual(["0.00", "OTHER_SEAT", "SEAT_OF_OTHER_VOUCHER", "0.00"]);
  });

  it("[V7.9] finds nothing of another event or organizer", async () => {
    const elsewhere = [
      { organizer: place.organizer, event: "other" },
      { organizer: "others", event: place.event },
    ];
    await service.createOne({ code: "SHARED" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["SHARED"] });
    for (const at of elsewhere) {
      await expect(service.shop.checkVouchers({ ...at, asks: [] })).rejects.toMatchObject({
        code: "voucher_event_not_found",
      });
      await prepareShop(service, { at });
      const asked = await service.shop.checkVouchers({ ...at, asks: [shopAsk("SHARED")] });
      expect(outcomesOf(asked)).toEqual(["UNKNOWN_CODE"]);
      await expect(service.shop.confirmReservation({ ...at, reservation, positions: [1] })).rejects.toMatchObject({
        code: "reservation_not_found",
      });
      await service.shop.releaseReservation({ ...at, reservation });
    }
    expect(await left("SHARED")).toBe(0);
    await confirm(reservation, 501);
  });

  it("names everything that is wrong with a request, and takes a thousand asks", async () => {
    await expect(
      check(
        shopAsk("A\0"),
        shopAsk("B", { price: "-1", seat: "x".repeat(256) }),
        shopAsk("C", { price: "1.005" }),
        shopAsk("D", { item: -(2 ** 63), variation: 2 ** 53, subevent: 2 ** 62 }),
      ),
    ).rejects.toMatchObject({
      code: "invalid_asks",
      fields: {
        "0.code": [expect.any(String)],
        "1.seat": [expect.any(String)],
        "1.price": [expect.any(String)],
        "2.price": [expect.any(String)],
        "3.item": [expect.any(String)],
        "3.variation": [expect.any(String)],
        "3.subevent": [expect.any(String)],
      },
    });
    const many = Array.from({ length: 1001 }, (_, index) => shopAsk(`CODE-${index}`));
    await expect(check(...many)).rejects.toMatchObject({ code: "too_many_asks" });
    expect((await check(...many.slice(1))).answers).toHaveLength(1000);
    await expect(service.shop.checkVouchers({ organizer: "\0", event: "x", asks: [] })).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});

describe("a reservation", () => {
  it("[V8.1] takes all of its uses or none", async () => {
    await service.create({ code: "FIRST", maxUsages: 2 }, { code: "SECOND" });
    const reservation = randomUUID();
    const refused = await reserve(service, { reservation, codes: ["FIRST", "SECOND", "SECOND"] });
    expect([outcomesOf(refused), refused.expiresAt]).toEqual([["0.00", "0.00", "TOO_MANY_USES"], undefined]);
    expect([await left("FIRST"), await left("SECOND")]).toEqual([2, 1]);
    const granted = await reserve(service, { reservation, codes: ["FIRST", "SECOND"] });
    expect(granted.expiresAt).toBeGreaterThan(Date.now() * 1000);
    expect([await left("FIRST"), await left("SECOND")]).toEqual([1, 0]);
  });

  it("[V8.3] fifty at the same time that want a voucher of thirty uses take exactly thirty", async () => {
    await service.createOne({ code: "THIRTY", maxUsages: 30, ...tenOff, budget: "295.00" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => reserve(service, { reservation: randomUUID(), codes: ["thirty"] })),
    );
    const outcomes = answers.flatMap(outcomesOf).sort();
    expect(Object.entries(Object.groupBy(outcomes, (each) => each)).map(([name, all]) => [name, all?.length])).toEqual([
      ["10.00", 29],
      ["5.00", 1],
      ["RESERVED", 20],
    ]);
  });

  it("[V8.3] those of several vouchers, in any order, wait for each other and never for ever", async () => {
    await service.create(
      { code: "ROW-ONE", maxUsages: 20 },
      { code: "ROW-TWO", maxUsages: 20 },
      { code: "ROW-THREE", maxUsages: 20 },
    );
    const orders = [
      ["ROW-ONE", "ROW-TWO", "ROW-THREE"],
      ["ROW-THREE", "ROW-TWO", "ROW-ONE"],
      ["ROW-TWO", "ROW-THREE", "ROW-ONE"],
    ];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        reserve(service, { reservation: randomUUID(), codes: orders[index % 3] ?? [] }),
      ),
    );
    expect(answers.filter(({ expiresAt }) => expiresAt !== undefined)).toHaveLength(20);
    expect(await Promise.all(["ROW-ONE", "ROW-TWO", "ROW-THREE"].map(left))).toEqual([0, 0, 0]);
  });

  it("[V8.5] has the same answer when it is repeated, and takes its uses once", async () => {
    await service.createOne({ code: "AGAIN", maxUsages: 9, ...tenOff, budget: "15.00" });
    const reservation = randomUUID();
    const again = () => reserve(service, { reservation, codes: ["AGAIN", "AGAIN"] });
    const answers = await Promise.all(Array.from({ length: 5 }, again));
    expect(outcomesOf(answers[0] ?? { answers: [] })).toEqual(["10.00", "5.00"]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await left("AGAIN")).toBe(7);
    await expect(reserve(service, { reservation, codes: ["AGAIN"] })).rejects.toMatchObject({
      code: "reservation_differs",
    });
    await confirm(reservation, 1, 2);
    expect(await again()).toEqual(answers[0]);
    expect(await left("AGAIN")).toBe(7);
  });

  it("[V8.5] is one, though two requests use its id at the same moment", async () => {
    await service.create({ code: "FIRST" }, { code: "SECOND" });
    const reservation = randomUUID();
    const outcomes = await Promise.allSettled(
      ["FIRST", "SECOND"].map((code) => reserve(service, { reservation, codes: [code] })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await left("FIRST")) + (await left("SECOND"))).toBe(1);
  });

  it("[V8.6] lives from a second to a day, and holds nothing afterwards", async () => {
    await service.createOne({ code: "ONCE-ONLY", ...tenOff, budget: "10.00" });
    for (const lifetimeMs of [0, 999, 86_400_001])
      await expect(
        reserve(service, { reservation: randomUUID(), codes: ["ONCE-ONLY"], lifetimeMs }),
      ).rejects.toMatchObject({ code: "invalid_reservation" });
    const [first, second] = [randomUUID(), randomUUID()];
    await reserve(service, { reservation: first, codes: ["ONCE-ONLY"], lifetimeMs: 1000 });
    await expire(service, first);
    expect(await left("ONCE-ONLY")).toBe(1);
    await expect(confirm(first, 1)).rejects.toMatchObject({ code: "reservation_expired", kind: "unmet" });
    await expect(
      reserve(service, { reservation: first, codes: ["ONCE-ONLY"], lifetimeMs: 1000 }),
    ).rejects.toMatchObject({
      code: "reservation_expired",
    });
    expect(outcomesOf(await reserve(service, { reservation: second, codes: ["ONCE-ONLY"] }))).toEqual(["10.00"]);
    // The clock is set back: usages given to another cart stay with that cart.
    await service.db.run(sql`update voucher_reservation set expires_at = now() + interval '1 hour'`);
    await expect(confirm(first, 1)).rejects.toMatchObject({ code: "reservation_expired" });
    await confirm(second, 2);
  });

  it("[V8.6] is removed by a job: what it held soon after its end, itself a week later", async () => {
    await service.createOne({ code: "MANY-USES", maxUsages: 9 });
    const [open, ended] = [randomUUID(), randomUUID()];
    for (const reservation of [open, ended]) await reserve(service, { reservation, codes: ["MANY-USES", "MANY-USES"] });
    await expire(service, ended);
    await service.runJob("remove-reservations");
    expect(await rowsLeft()).toEqual({ uses: 2, reservations: 2 });
    await expect(confirm(ended, 1, 2)).rejects.toMatchObject({ code: "reservation_expired" });
    await service.db.run(sql`
      update voucher_reservation set expires_at = now() - interval '8 days' where reservation = ${ended}::uuid`);
    await service.runJob("remove-reservations");
    expect(await rowsLeft()).toEqual({ uses: 2, reservations: 1 });
    await expect(confirm(ended, 1, 2)).rejects.toMatchObject({ code: "reservation_not_found" });
  });

  it("[V8.7] gives back at once when it is released, once or more often", async () => {
    await service.createOne({ code: "ONCE-ONLY" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["ONCE-ONLY"] });
    await release(reservation);
    await release(reservation);
    expect(await left("ONCE-ONLY")).toBe(1);
    await expect(confirm(reservation, 1)).rejects.toMatchObject({ code: "reservation_released" });
    await expect(reserve(service, { reservation, codes: ["ONCE-ONLY"] })).rejects.toMatchObject({
      code: "reservation_released",
    });
  });

  it("[V8.7] that arrives after its release holds nothing", async () => {
    await service.createOne({ code: "ONCE-ONLY" });
    const reservation = randomUUID();
    await release(reservation);
    await expect(reserve(service, { reservation, codes: ["ONCE-ONLY"] })).rejects.toMatchObject({
      code: "reservation_released",
    });
    expect(await left("ONCE-ONLY")).toBe(1);
  });

  it("[V8.8] that is confirmed moves the counts at once and once, and cannot be released", async () => {
    const { id } = await service.createOne({ code: "SOLD-OUT", maxUsages: 9, ...tenOff, budget: "15.00" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["SOLD-OUT", "SOLD-OUT"] });
    expect(await countOf(id)).toEqual([0, "0.00"]);
    await confirm(reservation, 501, 502);
    const before = await published();
    await confirm(reservation, 501, 502);
    expect([await countOf(id), await left("SOLD-OUT"), await published()]).toEqual([[2, "15.00"], 7, before]);
    await expect(release(reservation)).rejects.toMatchObject({ code: "reservation_confirmed" });
    await expect(confirm(reservation, 502, 501)).rejects.toMatchObject({ code: "reservation_differs" });
    const other = randomUUID();
    await reserve(service, { reservation: other, codes: ["SOLD-OUT"] });
    for (const positions of [[502], [0], [2 ** 53], [], [503, 504], [503, 503]])
      await expect(confirm(other, ...positions)).rejects.toMatchObject({
        code: "invalid_positions",
        fields: { positions: [expect.any(String)] },
      });
    await confirm(other, 503);
    expect(await countOf(id)).toEqual([3, "15.00"]);
  });

  it("[V8.8] is confirmed or released, whichever comes first of both at the same moment", async () => {
    const { id } = await service.createOne({ code: "RACES", maxUsages: 50 });
    for (let round = 0; round < 10; round += 1) {
      const reservation = randomUUID();
      await reserve(service, { reservation, codes: ["RACES"] });
      const outcomes = await Promise.allSettled([confirm(reservation, 600 + round), release(reservation)]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    }
    const [redeemed = 0] = await countOf(id);
    expect(await left("RACES")).toBe(50 - Number(redeemed));
  });

  it("[V8.11] does not show in the voucher", async () => {
    const { id } = await service.createOne({ code: "HIDDEN", ...tenOff, budget: "10.00" });
    await reserve(service, { reservation: randomUUID(), codes: ["HIDDEN"] });
    expect(await countOf(id)).toEqual([0, "0.00"]);
    const listed = await service.vouchers.listVouchers({ ...place, page: 1, pageSize: 50, ordering: [], active: true });
    expect(listed.vouchers).toMatchObject([{ id, redeemed: 0, budgetUsed: "0.00" }]);
  });

  it("[V8.12] keeps its voucher from being deleted until it ends, and for good once it is confirmed", async () => {
    const [first, second] = await service.create({ code: "FIRST" }, { code: "SECOND" });
    const [ended, sold] = [randomUUID(), randomUUID()];
    await reserve(service, { reservation: ended, codes: ["FIRST"] });
    await reserve(service, { reservation: sold, codes: ["SECOND"] });
    const remove = (id: number | undefined) => service.vouchers.deleteVoucher({ ...place, id: id ?? 0 });
    await expect(remove(first?.id)).rejects.toMatchObject({ code: "voucher_reserved", kind: "forbidden" });
    await expire(service, ended);
    await remove(first?.id);
    await confirm(sold, 501);
    await service.deliver(topics.voucherUseChanged, [
      soldFact(501, { revision: 1, voucher: second?.id, canceled: true }),
    ]);
    await expect(remove(second?.id)).rejects.toMatchObject({ code: "voucher_used" });
  });

  it("[V8.13] keeps `max_usages` from falling below what is redeemed and reserved", async () => {
    const { id } = await service.createOne({ code: "FEWER", maxUsages: 9 });
    const [sold, open] = [randomUUID(), randomUUID()];
    await reserve(service, { reservation: sold, codes: ["FEWER"] });
    await reserve(service, { reservation: open, codes: ["FEWER", "FEWER"] });
    await confirm(sold, 501);
    await expect(service.update(id, { maxUsages: 0 })).rejects.toMatchObject({
      fields: { non_field_errors: ["This voucher was redeemed 1 times: `max_usages` cannot be less than that."] },
    });
    await expect(service.update(id, { maxUsages: 2 })).rejects.toMatchObject({
      fields: { non_field_errors: [expect.stringContaining("cannot be less than 3 until they end")] },
    });
    await service.update(id, { maxUsages: 3 });
    await release(open);
    await service.update(id, { maxUsages: 1 });
  });

  it("[V8.14] keeps its price, whatever becomes of the voucher", async () => {
    const { id } = await service.createOne({ code: "KEEPS", ...tenOff, budget: "10.00" });
    const reservation = randomUUID();
    await reserve(service, { reservation, codes: ["KEEPS"] });
    await service.update(id, { budget: "1.00", value: "1.00", validUntil: 1, code: "RENAMED" });
    await confirm(reservation, 501);
    expect(await countOf(id)).toEqual([1, "10.00"]);
  });

  it("is named by a UUID, and has at least one use", async () => {
    await expect(reserve(service, { reservation: "cart-1", codes: ["X"] })).rejects.toMatchObject({
      code: "invalid_reservation",
      fields: { reservation: [expect.any(String)] },
    });
    await expect(reserve(service, { reservation: randomUUID(), codes: [] })).rejects.toMatchObject({
      code: "invalid_reservation",
    });
    await expect(confirm(randomUUID(), 1)).rejects.toMatchObject({ code: "reservation_not_found" });
  });
});
