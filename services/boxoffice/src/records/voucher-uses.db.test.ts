import { sql } from "@tessera/kit/pg/sql";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample } from "../testing/records.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const first = position({ voucher: 7, voucher_budget_use: "2.50" });
const plain = position({ id: 2, positionid: 2, secret: "b" });

const apply = async (...records: Parameters<BoxOffice["apply"]>) => expect(await office.apply(...records)).toEqual({});
const send = (positions: object[], rest: object = {}) => apply(sample.order({ positions, ...rest }));

/** The published uses since the last call. */
async function told(): Promise<Record<string, unknown>[]> {
  const facts = (await takeFacts(db)).filter(({ topic }) => topic === "voucher-use-changed");
  return facts.map(({ key, value }) => ({ key, ...(value ?? { gone: true }) }));
}

/** The ended uses since the last call, and when. */
async function endsTold(): Promise<(readonly [string, number | undefined])[]> {
  const rows = await db.many<{ key: string; revision: string | null }>(sql`
    select outbox.key, outbox.headers ->> 'revision' as revision
      from outbox
     where outbox.topic = 'boxoffice.voucher-use-changed.v1'
       and outbox.payload is null
     order by outbox.key`);
  await told();
  return rows.map(({ key, revision }) => [key, revision === null ? undefined : Number(revision)]);
}

/** When the sample order was placed. */
const placed = Date.UTC(2026, 0, 1, 10) * 1000;
const gone = (id: number) => ({ key: `org/fest/${id}`, gone: true });

beforeEach(async () => {
  await emptyTables(db);
  await apply(...festival, sample.seat());
  await send([first, plain]);
});

describe("the use of a voucher", () => {
  it("[V6.8] is published for the position that names it, with what voucher counts, and for no other position", async () => {
    expect(await told()).toEqual([
      {
        key: "org/fest/1",
        organizer: "org",
        event: "fest",
        id: 1,
        revision: expect.any(Number),
        voucher: 7,
        since: placed,
        orderStatus: OrderStatus.PAID,
        canceled: false,
        budgetUse: "2.50",
      },
    ]);
  });

  it("[V6.2] takes nothing of the budget where the voucher made its position dearer", async () => {
    await send([{ ...first, voucher_budget_use: "-27.00" }, plain]);
    expect((await told()).at(-1)).toMatchObject({ voucher: 7, budgetUse: "0.00" });
    expect(await db.one(sql`select budget_use as "budgetUse" from position where id = 1`)).toEqual({
      budgetUse: "0.00",
    });
  });

  it("has the revision of the state of its position", async () => {
    const [use] = await told();
    const { revision } = await db.one<{ revision: number }>(sql`select revision from position where id = 1`);
    expect(use?.["revision"]).toBe(revision);
  });

  it("changes with its order and its position", async () => {
    await told();
    await send([first, plain], { status: "e" });
    await send([{ ...first, canceled: true }, plain], { status: "e" });
    await send([{ ...first, canceled: true, voucher: 8, voucher_budget_use: null }, plain], { status: "e" });
    const uses = await told();
    expect(uses).toMatchObject([
      { voucher: 7, orderStatus: OrderStatus.EXPIRED, canceled: false },
      { voucher: 7, canceled: true, budgetUse: "2.50" },
      { voucher: 8, canceled: true },
    ]);
    expect(uses.at(-1)?.["budgetUse"]).toBeUndefined();
  });

  it("says nothing where nothing has changed", async () => {
    await told();
    await send([first, plain]);
    await send([first, plain], { comment: "not of the position" });
    expect(await told()).toEqual([]);
  });

  it("[V6.4] is gone once its position names no voucher, and comes again", async () => {
    await told();
    await send([position(), plain]);
    expect(await told()).toEqual([gone(1)]);
    await send([position({ secret: "other" }), plain]);
    expect(await told()).toEqual([]);
    await send([first, plain]);
    expect(await told()).toMatchObject([{ key: "org/fest/1", voucher: 7 }]);
  });

  it("[V6.4] is canceled with a position that its order is sent without", async () => {
    await told();
    await send([plain]);
    expect(await told()).toMatchObject([{ key: "org/fest/1", voucher: 7, canceled: true }]);
    await send([first, plain]);
    expect(await told()).toMatchObject([{ key: "org/fest/1", voucher: 7, canceled: false }]);
  });

  it("[V6.4] is gone with its order and its event", async () => {
    await told();
    await apply(record("order", { code: "ABCDE" }, { deleted: true }));
    expect(await told()).toEqual([gone(1)]);
    await send([first, plain]);
    await told();
    await apply(record("event", { slug: "fest" }, { deleted: true }));
    expect(await told()).toEqual([gone(1)]);
  });

  it("goes with its position to another order", async () => {
    await told();
    const rest = sample.order({ positions: [plain] });
    const split = sample.order({ code: "SPLIT", status: "n", positions: [{ ...first, positionid: 1 }] });
    await apply(rest, split);
    expect(await told()).toMatchObject([{ key: "org/fest/1", voucher: 7, orderStatus: OrderStatus.PENDING }]);
  });

  it("[V6.10] says since when it is as it is: since its order was placed, if it came with it", async () => {
    await told();
    const begun = Date.now() * 1000 - 60_000_000;
    const sinceOf = async () => (await told()).map(({ since }) => since);
    const [named, third] = [{ ...plain, voucher: 8 }, position({ id: 3, positionid: 3, secret: "c", voucher: 8 })];
    await send([first, named]);
    const [since] = await sinceOf();
    expect(since).toBeGreaterThan(begun);
    await send([
      { ...first, attendee_name: "Anna" },
      { ...named, attendee_name: "Anna" },
    ]);
    expect(await sinceOf()).toEqual([placed, since]);
    await send([first, named, third]);
    expect((await sinceOf()).sort()).toEqual([placed, since, expect.any(Number)]);
    await send([first, named, third], { status: "c" });
    const canceled = await sinceOf();
    expect(Math.min(...(canceled as number[]))).toBeGreaterThan(since as number);
    await apply(record("order", { code: "ABCDE" }, { deleted: true }));
    await told();
    await send([first, named]);
    const again = await sinceOf();
    expect(Math.min(...(again as number[]))).toBeGreaterThan(Math.max(...(canceled as number[])));
  });

  it("[V6.11] is as it is since its shop changed the order, where that is told and not yet to come", async () => {
    await told();
    const sinceOf = async () => (await told()).map(({ since }) => since);
    await send([first, plain], { status: "c", last_modified: "2026-03-01T10:00:00Z" });
    expect(await sinceOf()).toEqual([Date.UTC(2026, 2, 1, 10) * 1000]);
    await send([first, { ...plain, voucher: 8 }], { status: "p", last_modified: "2026-03-02T10:00:00Z" });
    expect(await sinceOf()).toEqual(Array(2).fill(Date.UTC(2026, 2, 2, 10) * 1000));
    await send([plain], { status: "p", last_modified: "2026-03-03T10:00:00Z" });
    expect(await sinceOf()).toContain(Date.UTC(2026, 2, 3, 10) * 1000);
    await send([first, plain], { status: "c", last_modified: "2199-01-01T00:00:00Z" });
    expect(
      (await sinceOf()).every((since) => since === undefined || (since as number) < Date.now() * 1000 + 60e6),
    ).toBe(true);
  });

  it("[V6.11] is there again since its shop changed the order that it had removed", async () => {
    await apply(record("order", { code: "ABCDE", last_modified: "2026-03-01T10:00:00Z" }, { deleted: true }));
    await told();
    await send([first, plain], { last_modified: "2026-03-02T10:00:00Z" });
    expect(await told()).toMatchObject([{ canceled: false, since: Date.UTC(2026, 2, 2, 10) * 1000 }]);
  });

  it("[V6.12, R5.1] is told anew when an old state comes again, and when the newest does, but not when either repeats", async () => {
    const at = (day: number) => ({ last_modified: `2026-03-0${day}T10:00:00Z` });
    const states = [
      [[first, plain], { status: "p", ...at(1) }],
      [[position(), plain], { status: "p", ...at(2) }],
      [[first, plain], { status: "c", ...at(3) }],
    ] as const;
    for (const [positions, rest] of states) await send([...positions], rest);
    await told();
    for (const [positions, rest] of states) {
      await send([...positions], rest);
      expect(await told()).toHaveLength(1);
      await send([...positions], rest);
      expect(await told()).toEqual([]);
    }
    const { since } = await db.one<{ since: number }>(sql`select voucher_since_at as since from position where id = 1`);
    expect(since).toBe(Date.UTC(2026, 2, 3, 10) * 1000);
    expect(await db.many(sql`select since_at as since, until_at as until from former_use order by since_at`)).toEqual([
      { since: placed, until: Date.UTC(2026, 2, 2, 10) * 1000 },
    ]);
  });

  it("[V6.11] is gone since its shop changed the order so that the position names no voucher", async () => {
    await told();
    await send([position(), plain], { last_modified: "2026-03-01T10:00:00Z" });
    expect(await endsTold()).toEqual([["org/fest/1", Date.UTC(2026, 2, 1, 10) * 1000]]);
  });

  it("[V6.11] is another since its shop gave the position to a new order", async () => {
    await send([plain], { last_modified: "2026-03-01T10:00:00Z" });
    await told();
    await apply(sample.order({ code: "SPLIT", positions: [first], last_modified: "2026-03-02T10:00:00Z" }));
    expect(await told()).toMatchObject([{ canceled: false, since: Date.UTC(2026, 2, 2, 10) * 1000 }]);
  });

  it("[V6.11] is gone since its shop removed the order, each of one batch at its own moment", async () => {
    await send([first, { ...plain, voucher: 7 }], { last_modified: "2026-02-01T10:00:00Z" });
    const other = position({ id: 3, secret: "c", voucher: 8 });
    await apply(
      sample.order({ code: "OTHER", positions: [other] }),
      sample.order({ code: "THIRD", positions: [{ ...other, id: 4, secret: "d" }] }),
    );
    await told();
    const removed = (code: string, rest: object = {}) => record("order", { code, ...rest }, { deleted: true });
    await apply(
      removed("ABCDE", { last_modified: "2026-03-01T10:00:00Z" }),
      removed("OTHER", { last_modified: "2026-03-02T10:00:00Z" }),
      removed("THIRD", { last_modified: null }),
    );
    expect(await endsTold()).toEqual([
      ["org/fest/1", Date.UTC(2026, 2, 1, 10) * 1000],
      ["org/fest/2", Date.UTC(2026, 2, 1, 10) * 1000],
      ["org/fest/3", Date.UTC(2026, 2, 2, 10) * 1000],
      ["org/fest/4", expect.any(Number)],
    ]);
  });

  it("[V6.11, R2.6] is gone with its order where the moment of the removal cannot be read", async () => {
    await told();
    const wrong = record("order", { code: "ABCDE", last_modified: "soon" }, { deleted: true });
    const { rejected, warned } = await office.applyApart(wrong);
    expect([rejected, Object.keys(warned[1] ?? {})]).toEqual([{}, ["last_modified"]]);
    expect(await endsTold()).toEqual([["org/fest/1", expect.any(Number)]]);
  });

  it("says nothing of a seat that is named anew", async () => {
    await send([{ ...first, seat: "stalls-1-1" }, plain]);
    await told();
    await apply(sample.seat({ name: "New" }));
    expect(await told()).toEqual([]);
  });
});
