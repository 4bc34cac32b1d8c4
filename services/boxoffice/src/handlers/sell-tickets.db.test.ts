import { randomUUID } from "node:crypto";
import { sql } from "@tessera/kit/pg/sql";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOrder, toRecord } from "../records/order.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { losing } from "../testing/losing.ts";
import { countRows, countTaken, openSales, readOrders, startSales, type TestSales } from "../testing/open-sales.ts";
import { position, sample, type TestRecord } from "../testing/records.ts";
import { need, startLedger, voucher } from "../testing/vouchers.ts";

const { database, db } = await boxofficeDatabase();
const opened = await openSales(db);
const { sales, take } = opened;
const ledger = await startLedger(db);

beforeEach(() => opened.reset());

afterEach(() => opened.requireRightCounts());

const documents = () => readOrders(db);
const taken = () => countTaken(db);
const rowsMade = () => countRows(db);

const shortage = (message: RegExp) => ({
  problems: [{ field: "", message: expect.stringMatching(message) as string }],
  tickets: [],
});

describe("a sale", () => {
  it("[O1.1, O3.1, O3.2] makes paid orders of one ticket each", async () => {
    await take(
      sample.eventSettings({ locale: "de", ticket_secret_length: 20 }),
      sample.salesChannel({ identifier: "api.kiosk" }),
    );
    const { tickets } = await sales.sell({ amount: 3, salesChannel: "api.kiosk" });
    expect(tickets).toHaveLength(3);
    const made = await documents();
    expect(made.map(({ code }) => code)).toEqual(tickets.map(({ order }) => order).sort());
    for (const { code, positions, ...rest } of made) {
      const at = expect.stringMatching(/Z$/) as string;
      expect(code).toMatch(/^[A-HJ-NP-Z379]{5}$/);
      expect(rest).toMatchObject({
        status: "p",
        testmode: false,
        secret: expect.stringMatching(/^[a-z0-9]{16}$/) as string,
        locale: "de",
        sales_channel: "api.kiosk",
        datetime: at,
        last_modified: at,
        total: "23.00",
        fees: [],
      });
      expect(positions).toEqual([
        expect.objectContaining({
          id: tickets.find(({ order }) => order === code)?.position,
          positionid: 1,
          canceled: false,
          item: 1,
          price: "23.00",
          tax_rate: "19.00",
          tax_value: "3.67",
          tax_code: "S/standard",
          tax_rule: 1,
          secret: expect.stringMatching(/^[a-hjkmnp-z2-9]{20}$/) as string,
          pseudonymization_id: expect.stringMatching(/^[A-HJ-NP-Z3789]{10}$/) as string,
        }),
      ]);
    }
    expect(await taken()).toBe(3);
  });

  it("[O1.2] has its tickets in the order in which they were made, with ids that no record has", async () => {
    const { tickets } = await sales.sell({ amount: 5 });
    const ids = tickets.map(({ position: id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(ids[0]).toBeGreaterThan(1_000_000_000_000);
  });

  it("[O1.1, O6.1] makes ten thousand of them", async () => {
    await take(sample.quota({ size: 10_000 }));
    expect((await sales.sell({ amount: 10_000 })).tickets).toHaveLength(10_000);
    expect(await taken()).toBe(10_000);
  });

  it("[O1.3] is published as orders of records are", async () => {
    await takeFacts(db);
    const { tickets } = await sales.sell({ amount: 2 });
    const facts = await takeFacts(db);
    expect(facts.map(({ topic, key }) => [topic, key])).toEqual(
      tickets.map(({ position: id }) => ["position-changed", `org/fest/${id}`]),
    );
    expect(facts[0]?.value).toMatchObject({
      position: { item: 1, price: "23.00", taxValue: "3.67", order: { status: OrderStatus.PAID, locale: "en" } },
    });
  });

  it("[O1.3] is stored as a record of the same order would be", async () => {
    await sales.sell({ testmode: true });
    const [made] = await documents();
    const read = readOrder(structuredClone(made));
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    expect(JSON.parse(read.value.document)).toEqual(made);
    const [row] = toRecord(read.value).positions;
    const stored = await db.one<{ state: Uint8Array }>(sql`select position.state from position`);
    expect(Buffer.from(row?.state ?? [])).toEqual(stored.state);
  });

  it("[O4.2] in test mode has codes that show it", async () => {
    const { tickets } = await sales.sell({ amount: 4, testmode: true });
    for (const { order } of tickets) expect(order).toMatch(/^.0...$/);
    expect((await documents()).map(({ testmode }) => testmode)).toEqual([true, true, true, true]);
  });

  it("[O3.4] of an item that is valid for a fixed time has tickets for that time", async () => {
    const [from, until] = ["2026-07-01T10:00:00Z", "2026-07-02T10:00:00Z"];
    await take(sample.item({ validity_mode: "fixed", validity_fixed_from: from, validity_fixed_until: until }));
    await sales.sell();
    const [made] = await documents();
    expect(made?.positions).toEqual([expect.objectContaining({ valid_from: from, valid_until: until })]);
  });

  it("[O3.3] in a currency of three places has amounts of three places", async () => {
    await take(sample.event({ currency: "KWD" }));
    const { tickets } = await sales.sell({ sale: "00000000-0000-4000-8000-000000000001" });
    expect((await documents())[0]).toMatchObject({ total: "23.000", positions: [{ tax_value: "3.672" }] });
    expect(await sales.cancel("00000000-0000-4000-8000-000000000001")).toEqual({ canceled: tickets.length });
  });
});

describe("quota", () => {
  it("[O2.1] is taken for all tickets, or for none", async () => {
    expect(await sales.sell({ amount: 11 })).toEqual(shortage(/11 are wanted, and quota 1 has 10 left/));
    expect(await rowsMade()).toMatchObject({ orders: 0, positions: 0, sales: 0, tickets: 0 });
    expect((await sales.sell({ amount: 10 })).tickets).toHaveLength(10);
    expect(await sales.sell()).toEqual(shortage(/has 0 left/));
  });

  it("[O2.2] is needed: an item without one for the date is not sold", async () => {
    await take(sample.item({ id: 2 }));
    expect(await sales.sell({ item: 2 })).toEqual(shortage(/No quota/));
  });

  it("[O2.3] is that of every quota, on the date, of the variation", async () => {
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    const variations = [
      { id: 21, value: {}, default_price: "5.00" },
      { id: 22, value: {} },
    ];
    await take(
      ...[
        sample.event({ slug: "series", has_subevents: true }),
        sample.item({ id: 2, variations, default_price: "9.00" }),
        sample.subevent(),
        sample.subevent({
          id: 2,
          item_price_overrides: [{ item: 2, price: "7.00" }],
          variation_price_overrides: [{ variation: 21, price: "6.00" }],
        }),
        sample.quota({ id: 1, size: 5, subevent: 1, items: [2], variations: [21, 22] }),
        sample.quota({ id: 2, size: 3, subevent: 1, items: [2], variations: [21] }),
        sample.quota({ id: 3, size: null, subevent: 2, items: [2], variations: [21, 22] }),
      ].map(inSeries),
    );
    const sell = (rest: object) => sales.sell({ event: "series", item: 2, ...rest });
    expect(await sell({ variation: 21, subevent: 1, amount: 4 })).toEqual(shortage(/quota 2 has 3 left/));
    expect((await sell({ variation: 21, subevent: 1, amount: 3 })).tickets).toHaveLength(3);
    expect(await sell({ variation: 22, subevent: 1, amount: 3 })).toEqual(shortage(/quota 1 has 2 left/));
    expect((await sell({ variation: 21, subevent: 2, amount: 40 })).tickets).toHaveLength(40);
    expect((await sell({ variation: 22, subevent: 2, amount: 1 })).tickets).toHaveLength(1);
    const totals = Map.groupBy(await documents(), ({ total }) => total);
    expect([...totals].map(([total, orders]) => [total, orders.length]).sort()).toEqual([
      ["5.00", 3],
      ["6.00", 40],
      ["7.00", 1],
    ]);
  });

  it("[O2.4] that is closed sells nothing", async () => {
    await take(sample.quota({ size: 10, closed: true }));
    expect(await sales.sell()).toEqual(shortage(/Quota 1 is closed/));
  });

  it("[O2.5] is left by blocking vouchers and holds of them, and not for them", async () => {
    await ledger.tell(voucher(1, { maxUsages: 3 }));
    const held = await ledger.mustHold([need(2, { amount: 4 })]);
    expect(await sales.sell({ amount: 4 })).toEqual(shortage(/has 3 left/));
    expect((await sales.sell({ amount: 3 })).tickets).toHaveLength(3);
    expect(await ledger.hold([need(3)])).toHaveLength(1);
    await ledger.release(held);
    expect((await sales.sell({ amount: 4 })).tickets).toHaveLength(4);
  });

  it("[O2.6] goes to one of two sales at the same time, whole", async () => {
    const answers = await Promise.all([sales.sell({ amount: 6 }), sales.sell({ amount: 6 })]);
    expect(answers.map(({ tickets }) => tickets.length).sort()).toEqual([0, 6]);
    expect(await rowsMade()).toMatchObject({ orders: 6, positions: 6, sales: 1, tickets: 6 });
  });

  it("[O2.6] goes to sales, orders and holds of vouchers at the same time, and to none twice", async () => {
    const order = (code: string, id: number) => sample.order({ code, positions: [position({ id, secret: code })] });
    const [one, other, held] = await Promise.all([
      sales.sell({ amount: 4 }),
      sales.sell({ amount: 4 }),
      ledger.hold([need(1, { amount: 4 })]),
      take(order("A1", 1)),
      take(order("A2", 2)),
    ]);
    const got = [one.tickets.length, other.tickets.length, typeof held === "string" ? 4 : 0];
    expect(got.toSorted()).toEqual([0, 4, 4]);
  });

  it("[O2.6] is looked at behind a hold that is being decided", async () => {
    const apart = database.open("boxoffice");
    let sale: ReturnType<TestSales["sell"]> | undefined;
    await apart.transaction(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('boxoffice holds org/fest', 0))`);
      sale = sales.sell({ amount: 4 });
      await untilWaiting(db);
    });
    expect((await sale)?.tickets).toHaveLength(4);
    await apart.close();
  });

  it("[O2.7] that is not free within three seconds is a conflict, and nothing is sold", async () => {
    const connection = await db.dedicated();
    try {
      await connection.run(sql`select pg_advisory_lock(hashtextextended('boxoffice records org/fest', 0))`);
      await expect(sales.sell()).rejects.toMatchObject({ kind: "conflict", code: "locked" });
    } finally {
      await connection.release();
    }
    expect(await rowsMade()).toMatchObject({ orders: 0, sales: 0 });
  });
});

describe("the id of a sale", () => {
  it("[O5.1] has the same answer again, and takes nothing", async () => {
    const sale = randomUUID();
    const first = await sales.sell({ sale, amount: 4 });
    const before = await rowsMade();
    expect(await sales.sell({ sale, amount: 4 })).toEqual(first);
    expect(await rowsMade()).toEqual(before);
  });

  it("[O5.1] has the same answer at the same time", async () => {
    const sale = randomUUID();
    const answers = await Promise.all([1, 2, 3].map(() => sales.sell({ sale, amount: 4 })));
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(await taken()).toBe(4);
  });

  it("[O5.2] is refused for other tickets", async () => {
    const sale = randomUUID();
    await sales.sell({ sale });
    for (const other of [{ amount: 2 }, { item: 2 }, { testmode: true }, { salesChannel: "api.x" }]) {
      await expect(sales.sell({ sale, ...other })).rejects.toMatchObject({ code: "sale_differs" });
    }
    await expect(sales.sell({ sale: "7" })).rejects.toMatchObject({ code: "sale_invalid" });
    await expect(sales.sell({ event: "a\0" })).rejects.toMatchObject({ code: "sale_invalid" });
  });

  it("[O5.3] that was refused may be asked for again", async () => {
    const sale = randomUUID();
    expect((await sales.sell({ sale, amount: 11 })).tickets).toEqual([]);
    await take(sample.quota({ size: 11 }));
    expect((await sales.sell({ sale, amount: 11 })).tickets).toHaveLength(11);
  });

  it("[O5.4] belongs to its event: others have sales of the same id", async () => {
    const elsewhere = (each: TestRecord) => ({ ...each, event: "other" });
    await take(...[sample.event({ slug: "other" }), sample.item(), sample.quota()].map(elsewhere));
    const sale = randomUUID();
    const [here, there] = [await sales.sell({ sale }), await sales.sell({ sale, event: "other" })];
    expect(there.tickets[0]?.order).not.toBe(here.tickets[0]?.order);
    await sales.cancel(sale, { event: "other" });
    expect((await documents()).map(({ status }) => status).sort()).toEqual(["c", "p"]);
    await expect(sales.cancel(sale, { organizer: "strange" })).rejects.toMatchObject({ code: "sale_not_found" });
  });
});

describe("a process that is killed", () => {
  async function killEverywhere(request: (killed: TestSales) => Promise<unknown>): Promise<number> {
    const before = await rowsMade();
    for (let at = 1; ; at += 1) {
      const { db: losingDb, isLost } = losing(db, at);
      const killed = await startSales(losingDb);
      const ended = await request(killed).then(
        () => "answered",
        () => "killed",
      );
      if (!isLost()) {
        expect(ended).toBe("answered");
        return at - 1;
      }
      expect(ended).toBe("killed");
      expect(await rowsMade()).toEqual(before);
    }
  }

  it("[O1.4] between any two statements of a sale leaves nothing, and the next one makes all", async () => {
    const sale = randomUUID();
    const statements = await killEverywhere((killed) => killed.sell({ sale, amount: 3 }));
    expect(statements).toBeGreaterThan(10);
    expect(await taken()).toBe(3);
    expect((await sales.sell({ sale, amount: 3 })).tickets).toHaveLength(3);
    expect(await taken()).toBe(3);
  });
});

describe("codes and secrets", () => {
  it("[O4.4] are unique in an organizer, also between sales at the same time", async () => {
    await take(
      sample.quota({ size: null }),
      { ...sample.event({ slug: "other" }), event: "other" },
      { ...sample.item(), event: "other" },
      { ...sample.quota({ size: null }), event: "other" },
      sample.eventSettings({ ticket_secret_length: 12 }),
    );
    const sold = await Promise.all([
      sales.sell({ amount: 1500, testmode: true }),
      sales.sell({ amount: 1500, testmode: true, event: "other" }),
    ]);
    const codes = sold.flatMap(({ tickets }) => tickets.map(({ order }) => order));
    expect(new Set(codes).size).toBe(3000);
    const { secrets, pseudonyms } = await db.one<{ secrets: number; pseudonyms: number }>(sql`
      select count(distinct sold_ticket.secret) as secrets, count(distinct sold_ticket.pseudonymization_id) as pseudonyms
        from sold_ticket`);
    expect([secrets, pseudonyms]).toEqual([3000, 3000]);
  });

  it("[O4.4] are not those of orders that came in as records", async () => {
    // All codes of test mode that begin with A.
    const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ379";
    await take(sample.quota({ size: null }));
    await db.run(sql`
      insert into "order" (organizer, event, code, status, data, revision)
      select 'org', 'fest', concat('A0', one.letter, two.letter, three.letter), 'c', '{}', 1
        from unnest(${[...letters]}::text[]) as one (letter),
             unnest(${[...letters]}::text[]) as two (letter),
             unnest(${[...letters]}::text[]) as three (letter)`);
    const { tickets } = await sales.sell({ amount: 2000, testmode: true });
    expect(tickets.filter(({ order }) => order.startsWith("A0"))).toEqual([]);
    await db.run(sql`delete from "order" where "order".status = 'c'`);
  });
});
