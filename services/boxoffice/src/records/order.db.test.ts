import { header } from "@tessera/kit/bus/headers";
import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample } from "../testing/records.ts";

const office = emptyOffice();

beforeEach(async () => {
  await office.apply(
    ...festival,
    sample.item({ id: 2, variations: [{ id: 21, value: {} }] }),
    { ...sample.event({ slug: "series", has_subevents: true }), event: "series" },
    { ...sample.item(), event: "series" },
    { ...sample.subevent(), event: "series" },
  );
  await takeFacts(office.db);
});

const scan = {
  id: 5,
  list: 3,
  datetime: "2026-07-01T18:00:00.000001Z",
  type: "exit",
  gate: 4,
  device: 6,
  device_id: 7,
};

const published = async () =>
  (await takeFacts(office.db)).map(({ key, value }) => (value === null ? `${key} removed` : key));

const documentOf = async (code: string) =>
  (
    await office.db.one<{ data: Record<string, unknown> }>(
      sql`select "order".data from "order" where "order".code = ${code}`,
    )
  ).data;

describe("an order", () => {
  it.each([
    ["an unknown item", position({ item: 9 }), ["positions", "positions.0.item"], false],
    ["an unknown variation", position({ item: 2, variation: 9 }), ["positions.0.variation"], true],
    ["the variation of another item", position({ item: 1, variation: 21 }), ["positions.0.variation"], true],
    ["an unknown date", position({ subevent: 1 }), ["positions", "positions.0.subevent"], false],
    ["an unknown tax rule", position({ tax_rule: 1 }), ["positions.0.tax_rule"], true],
  ])(
    "[R3.36, R3.37, R5.4] that refers to %s says so, and has the ticket if its item and date are known",
    async (_name, sold, fields, has) => {
      const { rejected, warned } = await office.applyApart(sample.order({ positions: [sold] }));
      expect(Object.keys((has ? warned : rejected)[1] ?? {}).sort()).toEqual(fields);
      expect(await published()).toEqual(has ? ["org/fest/1"] : []);
    },
  );

  it("[R3.36] names everything unknown at once", async () => {
    const rejected = await office.apply(
      sample.order({
        sales_channel: "x",
        fees: [{}, { tax_rule: 1 }],
        positions: [position(), position({ id: 2, positionid: 2, item: 9 })],
      }),
    );
    expect(Object.keys(rejected[1] ?? {}).sort()).toEqual(["fees.1.tax_rule", "positions.1.item", "sales_channel"]);
  });

  it("[R3.37] may have sold an item without saying which variation", async () => {
    expect(
      await office.apply(
        sample.order({
          positions: [position({ item: 2 }), position({ id: 2, positionid: 2, item: 2, variation: 21 })],
        }),
      ),
    ).toEqual({});
  });

  it("[R3.38] of a series belongs to a date", async () => {
    const inSeries = (rest: object) => ({ ...sample.order({ positions: [position({ ...rest })] }), event: "series" });
    expect(Object.keys((await office.apply(inSeries({})))[1] ?? {})).toEqual(["positions.0.subevent", "positions"]);
    expect(await office.apply(inSeries({ subevent: 1 }))).toEqual({});
  });

  it("[R3.40] cannot take over the position of another, neither stored nor sent with it", async () => {
    await office.apply(sample.order());
    const rejected = await office.apply(
      sample.order({ code: "OTHER" }),
      sample.order({ code: "NEW1", positions: [position({ id: 8 })] }),
      sample.order({ code: "NEW2", positions: [position({ id: 9 }), position({ id: 8, positionid: 2 })] }),
    );
    expect(rejected).toEqual({
      1: {
        "positions.0": ["Position 1 belongs to another order."],
      },
      3: { "positions.1": ["Position 8 belongs to another order."] },
    });
    expect(
      await office.apply({ ...sample.order({ positions: [position({ subevent: 1 })] }), event: "series" }),
    ).toEqual({});
  });

  it("[R3.40] is refused where all of its positions have the ids of other tickets, and says that ids are unique", async () => {
    const twice = {
      positions: [expect.stringContaining("used once in an event")],
      "positions.0": [expect.any(String)],
    };
    const other = (code: string, secret: string) => sample.order({ code, positions: [position({ secret })] });
    expect(await office.apply(sample.order(), other("SAME1", "another"))).toEqual({ 2: twice });
    expect(await office.apply(other("SAME2", "third"))).toEqual({ 1: twice });
    expect(await office.db.many(sql`select "order".code from "order"`)).toHaveLength(1);
    // A ticket that moves has its secret, and an order that is known stays what it is.
    const known = sample.order({ code: "KNOWN", positions: [position({ id: 5, secret: "fifth" })] });
    expect(await office.apply(known, other("KNOWN", "fourth"))).toEqual({
      2: { "positions.0": [expect.any(String)], positions: [expect.stringContaining("canceled")] },
    });
  });

  it("[R3.41] warns where a record without positions cancels all that the order had", async () => {
    await office.apply(sample.order());
    const warned = { 1: { positions: [expect.stringContaining("every ticket that this order had is canceled")] } };
    expect(await office.apply(sample.order({ positions: undefined }))).toEqual(warned);
    expect(await office.apply(sample.order({ status: "c", positions: [] }))).toEqual({});
    expect(await office.apply(sample.order({ code: "NONE", positions: [] }))).toEqual({});
  });

  it("[R4.5] keeps codes and secrets to the letter", async () => {
    await office.apply(
      sample.order({ code: " äbc ", positions: [position({ secret: " S=\\\"'\u{1f39f} " })] }),
      sample.order({ code: " ÄBC ", positions: [] }),
    );
    expect(await office.db.many(sql`select "order".code from "order" order by "order".code`)).toEqual([
      { code: " ÄBC " },
      { code: " äbc " },
    ]);
    expect(await office.db.one(sql`select position.order_code, position.secret from position`)).toEqual({
      order_code: " äbc ",
      secret: " S=\\\"'\u{1f39f} ",
    });
  });

  it("[R2.3, R3.3] is stored with what it says of itself and no more", async () => {
    await office.apply(
      sample.order({
        total: "23",
        url: "https://example.org",
        payments: [{}],
        positions: [position({ unknown: 1, checkins: [scan] })],
      }),
    );
    expect(await documentOf("ABCDE")).toMatchObject({
      total: "23.00",
      datetime: "2026-01-01T10:00:00Z",
      sales_channel: "web",
      fees: [],
    });
    expect(JSON.stringify(await documentOf("ABCDE"))).not.toMatch(/url|payments|unknown|checkins|null/);
    expect(
      await office.db.one(
        sql`select position.positionid, position.item, position.variation, position.canceled from position`,
      ),
    ).toEqual({
      positionid: 1,
      item: 1,
      variation: null,
      canceled: false,
    });
  });
});

describe("an order that changes", () => {
  const three = [position(), position({ id: 2, positionid: 2, addon_to: 1 }), position({ id: 3, positionid: 3 })];

  beforeEach(async () => {
    await office.apply(sample.order({ positions: three }));
    await takeFacts(office.db);
  });

  it("publishes all its positions when it changes itself", async () => {
    await office.apply(sample.order({ status: "e", positions: three }));
    expect(await published()).toEqual(["org/fest/1", "org/fest/2", "org/fest/3"]);
  });

  it("[R5.1] publishes nothing when only that changes which positions do not show", async () => {
    await office.apply(sample.order({ comment: "Called twice", positions: three }));
    expect(await published()).toEqual([]);
    expect(await documentOf("ABCDE")).toMatchObject({ comment: "Called twice" });
  });

  it("publishes the position that changed", async () => {
    await office.apply(sample.order({ positions: [three[0], position({ ...three[1], secret: "new" }), three[2]] }));
    expect(await published()).toEqual(["org/fest/2"]);
    expect(await office.db.one(sql`select position.secret from position where position.id = 2`)).toEqual({
      secret: "new",
    });
  });

  it("[R3.41] takes its positions along when it is removed", async () => {
    await office.apply(sample.order({ code: "OTHER", positions: [position({ id: 4 })] }));
    await takeFacts(office.db);
    await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
    expect((await published()).sort()).toEqual(["org/fest/1 removed", "org/fest/2 removed", "org/fest/3 removed"]);
    expect(await office.db.many(sql`select position.id from position`)).toEqual([{ id: 4 }]);
  });

  it("tells with the deletion of a position which of its states were before it", async () => {
    const last = await office.db.one<{ revision: number }>(
      sql`select max(position.revision) as revision from position`,
    );
    await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
    const told = await office.db.many<{ deletedAt: number }>(
      sql`select (outbox.headers ->> ${header.revision})::bigint as "deletedAt" from outbox where outbox.payload is null`,
    );
    expect(told).toHaveLength(3);
    for (const { deletedAt } of told) expect(deletedAt).toBeGreaterThan(last.revision);
  });

  it("[R3.40] may give a position to an order behind it, which keeps its scans", async () => {
    await office.apply(sample.order({ positions: [three[0], three[1], position({ ...three[2], checkins: [scan] })] }));
    await takeFacts(office.db);
    const rest = sample.order({ positions: three.slice(0, 2) });
    const split = sample.order({ code: "SPLIT", positions: [position({ id: 3 })] });
    expect(await office.apply(rest, split)).toEqual({});
    const facts = await takeFacts(office.db);
    expect(facts).toMatchObject([
      { key: "org/fest/3", value: { position: { order: { code: "SPLIT" } }, earlierCheckins: [{ id: 5 }] } },
    ]);
    expect(await office.db.one(sql`select position.order_code from position where position.id = 3`)).toEqual({
      order_code: "SPLIT",
    });
  });

  it("[R6.4] leaves its positions to the next when it is refused", async () => {
    expect(
      await office.apply(
        sample.order({ code: "WRONG", positions: [position({ id: 8, item: 9 })] }),
        sample.order({ code: "RIGHT", positions: [position({ id: 8 })] }),
      ),
    ).toEqual({ 1: { "positions.0.item": [expect.any(String)], positions: [expect.any(String)] } });
  });
});

describe("scans made elsewhere", () => {
  const withScans = (checkins: unknown) =>
    sample.order({ positions: [position(checkins === undefined ? {} : { checkins })] });

  const earlier = {
    id: 5,
    list: 3,
    exit: true,
    at: Date.parse("2026-07-01T18:00:00Z") * 1000 + 1,
    gate: 4,
    device: 6,
    deviceId: 7,
    autoCheckedIn: false,
  };

  const checkinsPublished = async () => (await takeFacts(office.db)).map(({ value }) => value?.["earlierCheckins"]);

  it("[R3.45] are published with their position", async () => {
    await office.apply(withScans([scan, { id: 6, list: 3, datetime: "2026-07-01T17:00:00Z", auto_checked_in: true }]));
    expect(await checkinsPublished()).toEqual([
      [earlier, { id: 6, list: 3, exit: false, at: Date.parse("2026-07-01T17:00:00Z") * 1000, autoCheckedIn: true }],
    ]);
  });

  it.each([
    ["left out", undefined],
    ["empty", []],
    ["null", null],
  ])("[R3.46] stay when they are %s", async (_name, checkins) => {
    await office.apply(withScans([scan]));
    await takeFacts(office.db);
    await office.apply(withScans(checkins));
    expect(await takeFacts(office.db)).toEqual([]);
    await office.apply(sample.order({ status: "c", positions: [position({ checkins })] }));
    expect(await checkinsPublished()).toEqual([[earlier]]);
  });

  it("[R3.46] are joined by others, and changed by those of the same id", async () => {
    await office.apply(withScans([]));
    expect(await checkinsPublished()).toEqual([[]]);
    await office.apply(withScans([scan]));
    await office.apply(withScans([scan]));
    expect(await checkinsPublished()).toEqual([[earlier]]);
    await office.apply(withScans([{ ...scan, id: 8 }]));
    expect(await checkinsPublished()).toEqual([[earlier, { ...earlier, id: 8 }]]);
    await office.apply(withScans([{ ...scan, gate: 9 }]));
    expect(await checkinsPublished()).toEqual([
      [
        { ...earlier, gate: 9 },
        { ...earlier, id: 8 },
      ],
    ]);
    await office.apply(withScans([{ ...scan, id: 8 }]));
    expect(await takeFacts(office.db)).toEqual([]);
  });
});
