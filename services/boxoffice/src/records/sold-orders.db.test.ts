import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boxofficeDatabase } from "../testing/database.ts";
import { countRows, openSales, readOrders } from "../testing/open-sales.ts";
import { position, record, sample } from "../testing/records.ts";

const { db } = await boxofficeDatabase();
const opened = await openSales(db);
const { office, sales, take } = opened;

beforeEach(() => opened.reset());

afterEach(() => opened.requireRightCounts());

const documents = () => readOrders(db);
const rowsMade = () => countRows(db);

describe("a record", () => {
  it("[O9.1] neither brings, replaces nor removes an order that is made here", async () => {
    const { tickets } = await sales.sell();
    const code = tickets[0]?.order ?? "";
    expect(await office.apply(sample.order({ code }))).toMatchObject({ 1: { code: [expect.any(String)] } });
    await take({ ...sample.event({ slug: "other" }), event: "other" }, { ...sample.item(), event: "other" });
    expect(await office.apply({ ...sample.order({ code }), event: "other" })).toMatchObject({
      1: { code: [expect.any(String)] },
    });
    expect(await office.apply(record("order", { code }, { deleted: true }))).toMatchObject({
      1: { non_field_errors: [expect.any(String)] },
    });
    expect((await documents()).map(({ status }) => status)).toEqual(["p"]);
  });

  it("[O9.2] has no position with an id of those made here", async () => {
    const rejected = await office.apply(sample.order({ positions: [position({ id: 1_000_000_000_001 })] }));
    expect(Object.keys(rejected[1] ?? {})).toEqual(["positions.0.id", "positions"]);
    await take(sample.order({ positions: [position({ id: 1_000_000_000_000 })] }));
  });

  it("[O9.3] that removes the event removes its sales", async () => {
    await sales.sell({ amount: 3 });
    await take(record("event", { slug: "fest" }, { deleted: true }));
    expect(await rowsMade()).toMatchObject({ orders: 0, positions: 0, sales: 0, tickets: 0 });
    await expect(sales.sell()).rejects.toMatchObject({ code: "no_such_event" });
  });
});
