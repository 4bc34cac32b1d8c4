import { randomUUID } from "node:crypto";
import { topics } from "@tessera/protos/topics";
import type { TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { all, dateOf, earliest, importedId, longBefore, type Places, startPlaces, zero } from "./places-left.ts";
import { place } from "./send-records.ts";
import { createDatabase } from "./voucher-and-boxoffice.ts";

let database: TestDatabase;
let parts: Places;

beforeAll(async () => {
  database = await createDatabase();
  parts = await startPlaces(database);
});
beforeEach(() => parts.empty());
afterAll(() => database?.drop());

describe("[V4.18] a use that the record of a voucher contains", () => {
  const imported = { id: importedId, code: "IMPORTED", max_usages: 3, block_quota: true, item: 1, redeemed: 1 };
  const bring = async () => {
    await parts.send("voucher", { kind: "voucher", data: { ...imported, as_of: dateOf[earliest] } });
    await parts.pass(topics.voucherChanged, all);
  };
  const order = (rest: object = {}) => ({
    kind: "order",
    data: {
      code: "O1",
      status: "p",
      datetime: dateOf[longBefore],
      positions: [{ id: 1, positionid: 1, item: 1, price: "10.00", secret: "secret-1", voucher: importedId }],
      ...rest,
    },
  });

  it.each([
    ["while voucher has not read it", [bring, () => parts.send("boxoffice", order())]],
    ["where its order was stored before the record is known", [() => parts.send("boxoffice", order()), bring]],
    [
      "though its order was removed and sent again",
      [
        bring,
        () => parts.send("boxoffice", order()),
        () => parts.send("boxoffice", { ...order(), deleted: true }),
        () => parts.send("boxoffice", order()),
      ],
    ],
  ] as const)("takes its own place alone %s, also once the voucher is changed", async (_, steps) => {
    for (const step of steps) await step();
    expect(await parts.countLeft()).toBe(4);
    await parts.update(importedId, { maxUsages: 4 }, "max_usages");
    expect(await parts.countLeft()).toBe(3);
    await parts.passAll();
    expect(await parts.countLeft()).toBe(3);
  });

  it("takes its own place alone where its order and the fact of the record are stored at the same moment", async () => {
    const ids = Array.from({ length: 24 }, (_, index) => index + 1);
    const vouchers = ids.map((id) => ({ ...imported, id, code: `IMPORTED-${id}`, as_of: dateOf[earliest] }));
    await parts.send("voucher", ...vouchers.map((data) => ({ kind: "voucher", data })));
    const orderOf = (id: number) =>
      order({
        code: `O${id}`,
        positions: [{ id, positionid: 1, item: 1, price: "10.00", secret: `secret-${id}`, voucher: id }],
      });
    await Promise.all([
      parts.pass(topics.voucherChanged, all),
      ...ids.map((id) => parts.send("boxoffice", orderOf(id))),
    ]);
    expect(await parts.usedInLedger()).toEqual(ids.map((id) => ({ id, used: 1 })));
    await parts.passAll();
    expect(await parts.redeemed()).toEqual(await parts.usedInLedger());
  });

  it("is not contained any more where its shop canceled the order before the record", async () => {
    await bring();
    await parts.send("boxoffice", order());
    await parts.send("boxoffice", order({ status: "c", last_modified: "2026-02-01T10:00:00Z" }));
    expect(await parts.countLeft()).toBe(5);
    await parts.passAll();
    expect(await parts.countLeft()).toBe(5);
  });

  it("is what it is at the moment of the newest record, also where that is older", async () => {
    await bring();
    await parts.send("boxoffice", order());
    await parts.send("boxoffice", order({ status: "c", last_modified: "2026-08-01T10:00:00Z" }));
    expect(await parts.countLeft()).toBe(4);
    for (const [as_of, left] of [
      ["2026-09-01T00:00:00Z", 5],
      ["2026-07-01T00:00:00Z", 4],
      ["2026-01-01T00:00:00Z", 5],
    ] as const) {
      await parts.send("voucher", { kind: "voucher", data: { ...imported, as_of } });
      await parts.pass(topics.voucherChanged, all);
      expect(await parts.countLeft()).toBe(left);
    }
  });
});

it("[V4.20] a use that a shop has confirmed keeps the place of its voucher until its position is stored", async () => {
  const sent = ["code", "item", "max_usages", "block_quota"];
  const { vouchers } = await parts.vouchers.createVouchers({
    ...place,
    vouchers: [{ fields: { ...zero, code: "SHOPPED", maxUsages: 3 }, sent }],
  });
  await parts.passAll();
  const reservation = randomUUID();
  await parts.shop.reserveVouchers({ ...place, reservation, uses: [{ code: "SHOPPED", item: 1 }], lifetimeMs: 60_000 });
  await parts.shop.confirmReservation({ ...place, reservation, positions: [1] });
  expect(await parts.redeemed()).toMatchObject([{ used: 1 }]);
  await parts.pass(topics.voucherChanged, all);
  expect(await parts.countLeft()).toBe(4);
  const position = { id: 1, positionid: 1, item: 1, price: "10.00", secret: "secret-1", voucher: vouchers[0]?.id };
  await parts.send("boxoffice", {
    kind: "order",
    data: { code: "O1", status: "p", datetime: new Date(), positions: [position] },
  });
  expect(await parts.countLeft()).toBe(4);
  await parts.passAll();
  expect(await parts.countLeft()).toBe(4);
  expect(await parts.redeemed()).toMatchObject([{ used: 1 }]);
});
