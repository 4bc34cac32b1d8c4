import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { losing } from "../testing/losing.ts";
import { countTaken, openSales, readOrders, startSales } from "../testing/open-sales.ts";

const { db } = await boxofficeDatabase();
const opened = await openSales(db);
const { sales } = opened;

beforeEach(() => opened.reset());

afterEach(() => opened.requireRightCounts());

const documents = () => readOrders(db);
const taken = () => countTaken(db);

describe("a cancelation", () => {
  it("[O8.1] cancels all orders of a sale once, and gives capacity back", async () => {
    const sale = randomUUID();
    await sales.sell({ sale, amount: 6 });
    await sales.sell({ amount: 2 });
    await takeFacts(db);
    expect(await sales.cancel(sale)).toEqual({ canceled: 6 });
    expect(await taken()).toBe(2);
    const facts = await takeFacts(db);
    expect(facts).toHaveLength(6);
    expect(facts[0]?.value).toMatchObject({ position: { canceled: false, order: { status: OrderStatus.CANCELED } } });
    const canceled = (await documents()).filter(({ status }) => status === "c");
    expect(canceled).toHaveLength(6);
    expect(canceled[0]).toMatchObject({ cancellation_date: expect.stringMatching(/Z$/) as string });
    expect(await sales.cancel(sale)).toEqual({ canceled: 0 });
    expect(await takeFacts(db)).toEqual([]);
    expect((await sales.sell({ amount: 8 })).tickets).toHaveLength(8);
    // The kept answer of a sale that was canceled since.
    expect(await sales.sell({ sale, amount: 6 })).toMatchObject({ tickets: { length: 6 }, canceled: true });
    expect(await taken()).toBe(10);
  });

  it("[O8.1] happens once, however many ask at the same time", async () => {
    const sale = randomUUID();
    await sales.sell({ sale, amount: 6 });
    const answers = await Promise.all([sales.cancel(sale), sales.cancel(sale), sales.cancel(sale)]);
    expect(answers.map(({ canceled }) => canceled).sort()).toEqual([0, 0, 6]);
  });

  it("[O8.3] needs what can be a sale of an event", async () => {
    for (const [sale, event] of [
      ["7", "fest"],
      ["", "fest"],
      [randomUUID(), "strange"],
    ] as const)
      await expect(sales.cancel(sale, { event })).rejects.toMatchObject({ code: "sale_not_found" });
  });

  it("[O8.4] comes before the sale: then the sale is never made, also of two at the same time", async () => {
    const sale = randomUUID();
    expect(await sales.cancel(sale)).toEqual({ canceled: 0 });
    expect(await sales.cancel(sale)).toEqual({ canceled: 0 });
    await expect(sales.sell({ sale })).rejects.toMatchObject({ code: "sale_differs" });
    const other = randomUUID();
    await Promise.allSettled([sales.sell({ sale: other, amount: 3 }), sales.cancel(other)]);
    expect(await taken()).toBe(0);
  });
});
describe("a process that is killed", () => {
  it("[O8.2] between any two statements of a cancelation leaves all as it was", async () => {
    const sale = randomUUID();
    await sales.sell({ sale, amount: 3 });
    const statuses = async () => (await documents()).map(({ status }) => status);
    expect(await statuses()).toEqual(["p", "p", "p"]);
    await db.run(sql`delete from outbox`);
    // The last run is not killed. Facts are counted before it.
    for (let at = 1; ; at += 1) {
      const { db: losingDb, isLost } = losing(db, at);
      const killed = await startSales(losingDb);
      await killed.cancel(sale).catch(() => undefined);
      if (!isLost()) break;
      expect(await statuses()).toEqual(["p", "p", "p"]);
      expect(await taken()).toBe(3);
      expect(await takeFacts(db)).toEqual([]);
    }
    expect(await statuses()).toEqual(["c", "c", "c"]);
    expect(await taken()).toBe(0);
  });
});
