import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { NeedProblemKind, type VoucherNeed } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { losing } from "../testing/losing.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";
import { farAway, longAgo, need, startLedger, voucher } from "../testing/vouchers.ts";
import { findOverbooked } from "./find-overbooked.ts";

const { database, db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const ledger = await startLedger(db);

const variations = [
  { id: 21, value: {} },
  { id: 22, value: {} },
];

beforeEach(async () => {
  await emptyTables(db);
  await take(...festival, sample.item({ id: 2, variations }), sample.item({ id: 3 }), sample.quota({ size: 10 }));
});

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

/** One order with this many positions. */
const sold = (count: number, rest: object = {}) =>
  sample.order({
    positions: Array.from({ length: count }, (_, index) => position({ id: index + 1, positionid: index + 1 })),
    ...rest,
  });

const tooLittle = (place: number, quota = 1) => ({ need: place, kind: NeedProblemKind.TOO_LITTLE_LEFT, quota });
const problem = (place: number, kind: NeedProblemKind) => ({ need: place, kind });
const isHeld = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

/** An order of one position that uses a voucher. */
const using = (id: number, rest: object = {}) =>
  sample.order({ code: `U${id}`, positions: [position({ id: 100 + id, secret: `u${id}`, voucher: id })], ...rest });

/** How much of item 1 can still be held, found by trying. */
async function left(rest: Partial<VoucherNeed> = {}): Promise<number> {
  for (let amount = 1; ; amount += 1) {
    const held = await ledger.hold([need(999_999, { amount, ...rest })]);
    if (typeof held !== "string") return amount - 1;
    await ledger.release(held);
    if (amount === 50) return Number.POSITIVE_INFINITY;
  }
}

describe("a quota", () => {
  it("[V4.4] has its size left, without positions of paid and pending orders, and without what other vouchers take", async () => {
    await take(sold(3), sample.order({ code: "B", status: "n", positions: [position({ id: 9, secret: "b" })] }));
    expect(await left()).toBe(6);
    await ledger.tell(voucher(1, { maxUsages: 3, redeemed: 1 }));
    expect(await left()).toBe(4);
    expect(await ledger.hold([need(2, { amount: 4 })])).toEqual(isHeld);
    expect(await left()).toBe(0);
    expect(await ledger.hold([need(3)])).toEqual([tooLittle(0)]);
  });

  it.each([
    ["expired", { validUntil: longAgo }],
    ["used up", { maxUsages: 2, redeemed: 2 }],
    ["used more often than it may be", { maxUsages: 2, redeemed: 5 }],
    ["blocking nothing", { blockQuota: false }],
    ["for another product", { item: 3 }],
    ["for everything", { item: undefined }],
    ["for another date", { subevent: 7 }],
    ["for this quota on another date", { item: undefined, quota: 1, subevent: 7 }],
  ] as const)("[V4.1] loses nothing to a voucher that is %s", async (_name, fields) => {
    await ledger.tell(voucher(1, { ...fields }));
    expect(await left()).toBe(10);
  });

  it("[V4.1] gives back what a voucher took that expires, is deleted, or is held no more", async () => {
    await ledger.tell(voucher(1, { validUntil: farAway }), voucher(2));
    const held = await ledger.mustHold([need(3, { amount: 2 }), need(4, { validUntil: farAway })]);
    expect(await left()).toBe(5);
    await db.run(sql`update voucher_claim set valid_until_at = now() - interval '1 ms' where id = 1`);
    await db.run(sql`update held_claim set valid_until_at = now() - interval '1 ms' where voucher = 4`);
    expect(await left()).toBe(7);
    await ledger.tell(2);
    expect(await left()).toBe(8);
    await ledger.release(held);
    expect(await left()).toBe(10);
  });

  it("[V4.5] that is closed has nothing left, and one without a size enough", async () => {
    await take(sample.quota({ closed: true, size: null }));
    expect(await ledger.hold([need(1)])).toEqual([tooLittle(0)]);
    await take(sample.quota({ size: null }));
    expect(await left()).toBe(Number.POSITIVE_INFINITY);
    await take(sample.quota({ size: 0 }));
    expect(await ledger.hold([need(1)])).toEqual([tooLittle(0)]);
  });

  it("[V4.2] is affected by its own vouchers, those of its variations, and those of its items", async () => {
    await take(
      sample.quota({ id: 2, size: 3, items: [2], variations: [21] }),
      sample.quota({ id: 3, size: 2, items: [2], variations: [22] }),
      sample.quota({ id: 4, size: 5, items: [2], variations: [21, 22] }),
    );
    expect(await left({ item: 2, variation: 21 })).toBe(3);
    expect(await left({ item: 2, variation: 22 })).toBe(2);
    expect(await left({ item: 2 })).toBe(2);
    expect(await left({ item: undefined, quota: 4 })).toBe(5);
    await ledger.hold([need(1, { item: 2 })]);
    await ledger.hold([need(2, { item: undefined, quota: 4 })]);
    expect(await left({ item: undefined, quota: 2 })).toBe(2);
    expect(await left({ item: undefined, quota: 3 })).toBe(1);
    expect(await left({ item: undefined, quota: 4 })).toBe(3);
  });

  it("[V4.3] counts products on its own date", async () => {
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    await take(
      ...[
        sample.event({ slug: "series", has_subevents: true }),
        sample.item(),
        sample.subevent(),
        sample.subevent({ id: 2 }),
        sample.quota({ size: 1, subevent: 1 }),
      ].map(inSeries),
    );
    const hold = (id: number, rest: object) => ledger.hold([need(id, rest)], { event: "series" });
    expect(await hold(1, { subevent: 2 })).toEqual([problem(0, NeedProblemKind.NO_QUOTA)]);
    expect(await hold(2, {})).toEqual([problem(0, NeedProblemKind.NO_QUOTA)]);
    expect(await hold(3, { subevent: 1 })).toEqual(isHeld);
    expect(await hold(4, { subevent: 1 })).toEqual([tooLittle(0)]);
  });

  it("[V4.11] is overbooked where orders and vouchers take more than there is", async () => {
    const overbooked = async () =>
      (await findOverbooked({ events: [{ organizer: "org", event: "fest" }] }, { db })).quotas;
    await take(sold(4));
    await ledger.tell(voucher(1, { maxUsages: 5 }));
    await ledger.hold([need(1, { amount: 6, isChecked: false })]);
    expect(await overbooked()).toEqual([]);
    await ledger.hold([need(2, { isChecked: false })]);
    expect(await overbooked()).toEqual([{ organizer: "org", event: "fest", id: 1, size: 10, taken: 11 }]);
  });
});

describe("needs", () => {
  it("[V4.17, V4.7] of a product without a quota are refused, unless they are not checked", async () => {
    const noQuota = [problem(0, NeedProblemKind.NO_QUOTA)];
    expect(await ledger.hold([need(1, { item: 3 })])).toEqual(noQuota);
    expect(await ledger.hold([need(1, { item: undefined, quota: 77 })])).toEqual(noQuota);
    expect(await ledger.hold([need(1, { item: 3, isChecked: false })])).toEqual(isHeld);
    const unusable = { amount: 0, isChecked: true };
    expect(await ledger.hold([need(2, { item: 3, ...unusable })])).toEqual(noQuota);
    expect(await ledger.hold([need(3, { item: 3, validUntil: longAgo })])).toEqual(isHeld);
    await take(sold(10));
    expect(await ledger.hold([need(4, unusable)])).toEqual(isHeld);
  });

  it("[V4.8, V4.12] of one request are summed, and nothing is held unless everything is", async () => {
    await take(sample.quota({ id: 2, size: 3, items: [3] }));
    const needs = [
      need(1, { amount: 6 }),
      need(2, { amount: 5 }),
      need(3, { amount: 4 }),
      need(4, { item: 3 }),
      need(5),
    ];
    expect(await ledger.hold(needs)).toEqual([tooLittle(1), tooLittle(4)]);
    expect(await left()).toBe(10);
    expect(await db.many(sql`select voucher from held_claim`)).toEqual([]);
    expect(await ledger.hold(needs.filter(({ voucher: id }) => [1, 3, 4].includes(id)))).toEqual(isHeld);
    expect(await left()).toBe(0);
  });

  it("[V4.9] that are not checked are held, whatever is left, and leave less to others", async () => {
    await take(sold(9));
    expect(await ledger.hold([need(1, { amount: 5, isChecked: false })])).toEqual(isHeld);
    expect(await ledger.hold([need(2)])).toEqual([tooLittle(0)]);
    await take(sample.quota({ size: 15 }));
    expect(await ledger.hold([need(3, { isChecked: false }), need(4)])).toEqual([tooLittle(1)]);
  });

  it("[V4.6] of a changed voucher are what it does not take yet", async () => {
    await take(sample.quota({ id: 2, size: 3, items: [3] }), sold(4));
    await ledger.tell(voucher(1, { maxUsages: 6 }));
    // Sold out, but nothing more is needed.
    expect(await ledger.hold([need(1, { amount: 6 })])).toEqual(isHeld);
    await take(sample.quota({ closed: true }));
    expect(await ledger.hold([need(1, { amount: 5 })])).toEqual(isHeld);
    await take(sample.quota({ size: 12 }));
    expect(await ledger.hold([need(1, { amount: 9 })])).toEqual([tooLittle(0)]);
    expect(await ledger.hold([need(1, { item: 3, amount: 4 })])).toEqual([tooLittle(0, 2)]);
    expect(await ledger.hold([need(1, { item: 3, amount: 3 })])).toEqual(isHeld);
    expect(await ledger.hold([need(1, { amount: 8 })])).toEqual(isHeld);
    expect(await ledger.hold([need(2)])).toEqual([tooLittle(0)]);
  });

  it("[V4.6] of a voucher that was expired or used up are everything", async () => {
    await take(sold(8));
    await ledger.tell(voucher(1, { maxUsages: 3, validUntil: longAgo }), voucher(2, { maxUsages: 3, redeemed: 3 }));
    expect(await ledger.hold([need(1, { amount: 3 })])).toEqual([tooLittle(0)]);
    expect(await ledger.hold([need(2, { amount: 6 })])).toEqual([tooLittle(0)]);
  });

  it.each([
    ["no UUID", { hold: "7" }, "invalid_hold"],
    ["a voucher twice", { needs: [need(1), need(1)] }, "invalid_hold"],
    ["an amount below zero", { needs: [need(1, { amount: -1 })] }, "invalid_hold"],
    ["a null character", { needs: [need(1, { seat: "a\0b" })] }, "invalid_hold"],
    ["an unknown event", { event: "gala" }, "no_such_event"],
    ["an event of another organizer", { organizer: "rival" }, "no_such_event"],
  ] as const)("are not read with %s", async (_name, rest, code) => {
    await expect(ledger.ask({ needs: [need(1)], ...rest } as never)).rejects.toMatchObject({ code });
  });
});

describe("[V4.18] a place", () => {
  const asOf = Date.UTC(2026, 5, 1) * 1000;

  it("passes from a voucher to its position and back, before voucher has counted either", async () => {
    await ledger.tell(voucher(1, { maxUsages: 3 }));
    for (const status of ["p", "n", "c", "p", "e", "p"]) {
      await take(using(1, { status }));
      expect(await left()).toBe(7);
    }
    await take(record("order", { code: "U1" }, { deleted: true }));
    expect(await left()).toBe(7);
    // Used more often than allowed.
    await ledger.tell(voucher(1, { maxUsages: 1, revision: 2 }));
    await take(
      sold(3, { positions: [1, 2].map((id) => position({ id, positionid: id, secret: `s${id}`, voucher: 1 })) }),
    );
    expect(await left()).toBe(8);
    await take(
      sold(3, { positions: [position({ id: 1, secret: "s1" }), position({ id: 2, positionid: 2, secret: "s2" })] }),
    );
    expect(await left()).toBe(7);
  });

  it("passes also while its voucher is held and nothing was told of it", async () => {
    await ledger.mustHold([need(1, { amount: 3 })]);
    await take(using(1));
    expect(await left()).toBe(7);
    await ledger.mustHold([need(1, { amount: 4 })]);
    expect(await left()).toBe(6);
    await ledger.tell(voucher(1, { maxUsages: 4 }));
    expect(await left()).toBe(6);
    await take(using(1, { status: "c" }));
    expect(await left()).toBe(6);
    await ledger.tell(1);
    expect(await left()).toBe(10);
    await take(using(1));
    await ledger.tell(voucher(1, { maxUsages: 4, revision: 7 }));
    expect(await left()).toBe(6);
  });

  it("is not counted twice where the record of the voucher contains the order, whichever arrives first", async () => {
    const contained = { ...voucher(1, { maxUsages: 3, redeemed: 1 }), countedAsOf: asOf };
    await ledger.tell(contained);
    expect(await left()).toBe(8);
    await take(using(1));
    expect(await left()).toBe(7);
    await ledger.tell({ ...contained, revision: 2 });
    expect(await left()).toBe(7);
    await take(using(1, { status: "c" }));
    expect(await left()).toBe(7);
    await take(using(2), using(1, { status: "c", datetime: "2026-07-01T10:00:00Z" }));
    expect(await left()).toBe(6);
  });

  it("of a seat goes to a position and back, too", async () => {
    await take(sample.seat({ product: 1 }));
    await ledger.tell(voucher(1, { seat: "stalls-1-1", blockQuota: false }));
    const claim = () => ledger.hold([need(2, { amount: 0, seat: "stalls-1-1" })]);
    for (const status of ["p", "c"]) {
      await take(
        using(1, { status, positions: [position({ id: 101, secret: "u1", voucher: 1, seat: "stalls-1-1" })] }),
      );
      expect(await claim()).toEqual([problem(0, NeedProblemKind.SEAT_TAKEN)]);
    }
  });
});

describe("[V4.19] what a voucher gives back", () => {
  const gone = { ...voucher(1, { revision: 9 }), voucher: undefined };

  it("is free once the ledger was told, also where earlier facts arrive only then", async () => {
    await ledger.mustHold([need(1, { amount: 3 })]);
    await ledger.announce(voucher(1, { maxUsages: 1, revision: 4 }));
    expect(await left()).toBe(9);
    await ledger.announce(gone);
    expect(await left()).toBe(10);
    await ledger.tell(voucher(1, { maxUsages: 3, revision: 2 }), voucher(1, { maxUsages: 1, revision: 4 }));
    expect(await left()).toBe(10);
    await ledger.tellDeleted(1, 9);
    expect(await db.many(sql`select id from voucher_claim where id = 1`)).toEqual([]);
  });

  it("is not taken again by a call that comes behind the fact of its deletion", async () => {
    const position = { id: 1, positionid: 1, item: 1, price: "10.00", secret: "s", voucher: 2 };
    await take(sample.order({ positions: [position] }));
    await ledger.tell(voucher(1, { maxUsages: 3 }), voucher(2, { maxUsages: 3 }));
    expect(await left()).toBe(4);
    await ledger.tell(1, 2);
    await ledger.announce(voucher(1, { maxUsages: 2, revision: 4 }), voucher(2, { maxUsages: 2, revision: 5 }));
    expect(await left()).toBe(9);
  });

  it("leaves a hold that was asked for later", async () => {
    await ledger.announce(voucher(1, { maxUsages: 1, revision: 4 }));
    await ledger.mustHold([need(1, { amount: 5, basedOn: 4 })]);
    await ledger.announce(voucher(1, { maxUsages: 1, revision: 4 }));
    expect(await left()).toBe(5);
  });
});

describe("a seat", () => {
  beforeEach(() => take(sample.seat({ product: 1 }), sample.seat({ id: 2, seat_guid: "stalls-1-2", product: 1 })));

  const seat = "stalls-1-1";
  const claim = (id: number, rest: Partial<VoucherNeed> = {}) => ledger.hold([need(id, { amount: 0, seat, ...rest })]);
  const taken = [problem(0, NeedProblemKind.SEAT_TAKEN)];
  const missing = [problem(0, NeedProblemKind.NO_SUCH_SEAT)];
  const seated = (rest: object = {}, order: object = {}) =>
    sample.order({ positions: [position({ seat, ...rest })], ...order });

  it("[V5.1] must exist in the event, or on the date", async () => {
    expect(await claim(1, { seat: "stalls-9-9" })).toEqual(missing);
    expect(await claim(1, { subevent: 4 })).toEqual(missing);
    expect(await claim(1)).toEqual(isHeld);
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    await take(
      ...[
        sample.event({ slug: "series", has_subevents: true }),
        sample.item(),
        sample.subevent(),
        sample.subevent({ id: 2 }),
        sample.seat({ subevent: 1, product: 1 }),
      ].map(inSeries),
    );
    const onDate = (id: number, subevent: number) =>
      ledger.hold([need(id, { amount: 0, seat, subevent })], { event: "series" });
    expect(await onDate(1, 2)).toEqual(missing);
    expect(await onDate(1, 1)).toEqual(isHeld);
    expect(await onDate(2, 1)).toEqual(taken);
  });

  it.each([
    ["that is blocked", sample.seat({ product: 1, blocked: true }), true],
    ["of a paid order", seated(), true],
    ["of a pending order", seated({}, { status: "n" }), true],
    ["of a canceled position", seated({ canceled: true }), false],
    ["of a canceled order", seated({}, { status: "c" }), false],
    ["of an expired order", seated({}, { status: "e" }), false],
  ] as const)("[V5.2] %s: taken or not", async (_name, change, isTaken) => {
    await take(change);
    expect(await claim(1)).toEqual(isTaken ? taken : isHeld);
  });

  it("[V5.8] beside a taken one is free", async () => {
    await take(seated());
    expect(await claim(1)).toEqual(taken);
    expect(await claim(1, { seat: "stalls-1-2" })).toEqual(isHeld);
  });

  it.each([
    ["", {}, true],
    ["that blocks no quota", { blockQuota: false }, true],
    ["that will expire", { validUntil: farAway }, true],
    ["that is expired", { validUntil: longAgo }, false],
    ["that is used up", { redeemed: 1 }, false],
    ["with another seat", { seat: "stalls-1-2" }, false],
  ] as const)("[V5.3, V5.7] of another voucher %s: taken or not", async (_name, fields, isTaken) => {
    await ledger.tell(voucher(1, { seat, ...fields }));
    expect(await claim(2)).toEqual(isTaken ? taken : isHeld);
  });

  it("[V5.3] goes to the first in a request, and is claimed by a hold until its end", async () => {
    const pair = [need(1, { amount: 0, seat }), need(2, { amount: 0, seat })];
    expect(await ledger.hold(pair)).toEqual([problem(1, NeedProblemKind.SEAT_TAKEN)]);
    const held = await ledger.mustHold([need(1, { amount: 0, seat })]);
    expect(await claim(2)).toEqual(taken);
    await ledger.release(held);
    expect(await claim(2)).toEqual(isHeld);
    expect(await claim(3, { seat: "stalls-1-2", validUntil: longAgo })).toEqual(isHeld);
    expect(await claim(4, { seat: "stalls-1-2" })).toEqual(isHeld);
  });

  it("[V5.4] is not taken for the voucher that claims it", async () => {
    await ledger.tell(voucher(1, { seat }));
    expect(await claim(1, { amount: 1 })).toEqual(isHeld);
    expect(await claim(1)).toEqual(isHeld);
    expect(await claim(2)).toEqual(taken);
  });

  it("[V5.5] must be one of the voucher's product, which is looked at last", async () => {
    expect(await claim(1, { item: 3 })).toEqual([problem(0, NeedProblemKind.SEAT_OF_OTHER_ITEM)]);
    expect(await claim(1, { item: undefined })).toEqual(isHeld);
    expect(await claim(2, { item: 3 })).toEqual(taken);
    expect(await claim(2, { item: 3, amount: 1, seat: "stalls-9-9" })).toEqual([problem(0, NeedProblemKind.NO_QUOTA)]);
    await take(sample.seat({ id: 3, seat_guid: "stool" }));
    expect(await claim(3, { seat: "stool" })).toEqual([problem(0, NeedProblemKind.SEAT_OF_OTHER_ITEM)]);
  });

  it("[V5.6] has one holder of twenty at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, id) => claim(id + 1)));
    expect(answers.filter((answer) => typeof answer === "string")).toHaveLength(1);
  });
});

describe("a hold", () => {
  it("[V4.10] is one of thirty, where fifty at once want a quota of thirty", async () => {
    await take(sample.quota({ size: 40 }), sold(10));
    const answers = await Promise.all(Array.from({ length: 50 }, (_, id) => ledger.hold([need(id + 1)])));
    expect(answers.filter((answer) => typeof answer === "string")).toHaveLength(30);
    expect(await db.many(sql`select hold from held_claim`)).toHaveLength(30);
    expect(await left()).toBe(0);
  });

  it("[V4.10] is never too much while others are confirmed, changed, given up and deleted", async () => {
    await take(sample.quota({ size: 30 }));
    let [confirmed, refused, most] = [0, 0, 0];
    const last = new Map<number, number>();
    const change = async (id: number, revision: number, amount: number) => {
      const hold = await ledger.hold([need(id, { amount, basedOn: last.get(id) ?? 0 })]);
      if (typeof hold !== "string") refused += 1;
      else if ((id + revision) % 4 === 0) await ledger.release(hold);
      else {
        await ledger.tell(voucher(id, { revision, maxUsages: amount }));
        last.set(id, revision);
        confirmed += 1;
      }
    };
    const live = async (id: number) => {
      for (let revision = 1; revision <= 6; revision += 1) {
        await change(id, revision, 1 + ((id + revision) % 3));
        const [stored] = await db.many<{ sum: number }>(sql`
          select sum(taken.amount)::bigint as sum
            from (select max(claim.amount) as amount
                    from (select id as voucher, max_usages as amount from voucher_claim
                           union all select voucher, usages from held_claim) as claim
                   group by claim.voucher) as taken`);
        most = Math.max(most, stored?.sum ?? 0);
      }
      if (id % 5 === 0) await ledger.tell(id);
    };
    await Promise.all(Array.from({ length: 20 }, (_, id) => live(id + 1)));
    expect(await db.many(sql`select hold from held_claim`)).toEqual([]);
    expect(most).toBe(30);
    expect(confirmed).toBeGreaterThan(20);
    expect(refused).toBeGreaterThan(5);
  });

  it("[V4.8] of ten thousand vouchers needs no statement for each of them", async () => {
    await take(sample.quota({ size: 10_000 }));
    const needs = Array.from({ length: 10_000 }, (_, id) => need(id + 1));
    const ofFewStatements = await startLedger(losing(db, 20).db);
    expect(await ofFewStatements.hold(needs)).toEqual(isHeld);
    expect(await ledger.hold([need(20_000)])).toEqual([tooLittle(0)]);
    await expect(ledger.hold([...needs, need(20_000)])).rejects.toMatchObject({ code: "too_many_needs" });
  });

  it("has the same answer however often it is asked for, also at once", async () => {
    const hold = randomUUID();
    const needs = [need(1, { amount: 4 })];
    const answers = await Promise.all(Array.from({ length: 10 }, () => ledger.ask({ hold, needs })));
    expect(answers).toEqual(Array.from({ length: 10 }, () => ({ problems: [] })));
    expect(await left()).toBe(6);
    const refused = randomUUID();
    const tooMuch = { hold: refused, needs: [need(2, { amount: 7 })] };
    expect(await ledger.ask(tooMuch)).toEqual({ problems: [tooLittle(0)] });
    await ledger.release(hold);
    expect(await ledger.ask(tooMuch)).toEqual({ problems: [tooLittle(0)] });
    expect(await left()).toBe(10);
  });

  it("[V4.13] takes nothing behind its release, also where the release came first", async () => {
    const held = await ledger.mustHold([need(1, { amount: 4 })]);
    await ledger.release(held);
    await ledger.release(held);
    const early = randomUUID();
    await ledger.release(early);
    for (const hold of [held, early])
      await expect(ledger.ask({ hold, needs: [need(1)] })).rejects.toMatchObject({
        kind: "conflict",
        code: "hold_released",
      });
    expect(await left()).toBe(10);
  });

  it("[V4.13] that races its release ends with nothing", async () => {
    for (let round = 0; round < 20; round += 1) {
      const hold = randomUUID();
      await Promise.allSettled([ledger.ask({ hold, needs: [need(1)] }), ledger.release(hold)]);
      expect(await db.many(sql`select hold from held_claim`)).toEqual([]);
    }
  });

  it("takes nothing when it is asked for again behind its confirmation", async () => {
    const hold = await ledger.mustHold([need(1, { amount: 4 })]);
    await ledger.tell(voucher(1, { maxUsages: 4 }));
    expect(await ledger.ask({ hold, needs: [need(1, { amount: 4 })] })).toEqual({ problems: [] });
    await ledger.tell(1);
    expect(await left()).toBe(10);
  });

  it("[V12.7] waits for no import, and for another hold of its event at most a few seconds", async () => {
    const apart = database.open("boxoffice");
    await apart.transaction(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('boxoffice records org/fest', 0))`);
      expect(await ledger.hold([need(1)])).toEqual(isHeld);
    });
    await apart.transaction(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('boxoffice holds org/fest', 0))`);
      await expect(ledger.hold([need(2)])).rejects.toMatchObject({ kind: "conflict", code: "locked" });
      await take({ ...sample.event({ slug: "other" }), event: "other" });
      expect(await ledger.hold([need(1, { amount: 0 })], { event: "other" })).toEqual(isHeld);
    });
    await apart.close();
  });

  it("[V4.15] is nothing to other events and other organizers, whatever ids they have", async () => {
    const places = [
      { organizer: "org", event: "other" },
      { organizer: "rival", event: "fest" },
    ];
    const records = [sample.event(), sample.item(), sample.quota({ size: 1 }), sample.seat({ product: 1 })];
    const organizer = { ...sample.organizer({ slug: "rival" }), organizer: "rival" };
    await take(organizer, { ...sample.event({ slug: "other" }), event: "other" });
    await take(...records.map((each) => ({ ...each, organizer: "rival" })));
    await take(...records.slice(1).map((each) => ({ ...each, event: "other" })));
    await take(sample.quota({ size: 1 }), sample.seat({ product: 1 }));
    const hold = randomUUID();
    const ask = (place: object) => ledger.ask({ ...place, hold, needs: [need(1, { seat: "stalls-1-1" })] });
    for (const place of [{}, ...places]) expect(await ask(place)).toEqual({ problems: [] });
    await ledger.release(hold, places[0]);
    await ledger.tell(voucher(1, { ...places[1], seat: "stalls-1-1" }));
    expect(
      await db.many(
        sql`select organizer, event, voucher as id from held_claim union all select organizer, event, id from voucher_claim`,
      ),
    ).toEqual([
      { organizer: "org", event: "fest", id: 1 },
      { organizer: "rival", event: "fest", id: 1 },
    ]);
    expect(await left()).toBe(0);
    expect(await ledger.hold([need(2, { seat: "stalls-1-1" })], places[0])).toEqual(isHeld);
    expect(await ledger.hold([need(2)], places[1])).toEqual([tooLittle(0)]);
  });

  it("is forgotten a day after its end, unless it has not ended", async () => {
    const [held, confirmed, refused, released] = [
      await ledger.mustHold([need(1)]),
      await ledger.mustHold([need(2)]),
      randomUUID(),
      randomUUID(),
    ];
    await ledger.tell(voucher(2));
    await ledger.ask({ hold: refused, needs: [need(3, { amount: 99 })] });
    await ledger.release(released);
    const kept = async () =>
      (await db.many<{ id: string }>(sql`select id from capacity_hold`)).map(({ id }) => id).sort();
    await ledger.runJob("forget-holds");
    expect(await kept()).toEqual([held, confirmed, refused, released].sort());
    await db.run(sql`update capacity_hold set changed_at = changed_at - interval '25 hours'`);
    await ledger.runJob("forget-holds");
    expect(await kept()).toEqual([held]);
    expect(await left()).toBe(8);
  });
});

describe("what vouchers take", () => {
  it("[V4.14] goes with its event", async () => {
    const removal = record("event", { slug: "fest" }, { deleted: true });
    await ledger.tell(voucher(1), voucher(2));
    await ledger.mustHold([need(3), need(4)]);
    await take(removal);
    for (const table of [sql`voucher_claim`, sql`held_claim`, sql`capacity_hold`])
      expect(await db.many(sql`select event from ${table}`)).toEqual([]);
    await expect(ledger.ask({ needs: [need(1)] })).rejects.toMatchObject({ code: "no_such_event" });
    await ledger.tell(voucher(5));
    expect(await db.many(sql`select id from voucher_claim`)).toEqual([]);
    await take(...festival, sample.quota({ size: 10 }));
    expect(await left()).toBe(10);
  });
});
