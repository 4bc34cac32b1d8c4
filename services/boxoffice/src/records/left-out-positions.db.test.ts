import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample } from "../testing/records.ts";
import { both, positionsIn, scanned, second, takePositions, withoutSecond } from "../testing/scanned-positions.ts";

const office = emptyOffice();

beforeEach(async () => {
  await office.apply(...festival, sample.seat());
  await office.apply(scanned);
  await takeFacts(office.db);
});

const published = () => takePositions(office.db);
const positionsOf = (code: string) => positionsIn(office.db, code);

describe("a position that its order is sent without", () => {
  it("[R3.41] is canceled, and keeps its scans", async () => {
    expect(await office.apply(withoutSecond())).toEqual({});
    expect(await published()).toMatchObject([
      { key: "org/fest/2", position: { canceled: true, attendeeName: "Ada" }, earlierCheckins: [{ id: 5 }] },
    ]);
    expect(await positionsOf("ABCDE")).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it("[R3.41] changes no more when the same is sent again, and with its order", async () => {
    await office.apply(withoutSecond());
    await takeFacts(office.db);
    await office.apply(withoutSecond());
    expect(await published()).toEqual([]);
    await office.apply(withoutSecond({ email: "ada@example.org" }));
    expect((await published()).find((fact) => fact["key"] === "org/fest/2")).toMatchObject({
      position: { canceled: true, order: { email: "ada@example.org" } },
    });
  });

  it("[R3.41] is as before when it is sent again", async () => {
    await office.apply(withoutSecond());
    await takeFacts(office.db);
    expect(await office.apply(both)).toEqual({});
    expect(await published()).toMatchObject([
      { key: "org/fest/2", position: { canceled: false }, earlierCheckins: [{ id: 5 }] },
    ]);
    expect(await office.apply(sample.order({ code: "OTHER", positions: [second] }))).toEqual({
      1: {
        "positions.0": ["Position 2 belongs to another order."],
      },
    });
  });

  it("[R3.41] goes with its order", async () => {
    await office.apply(withoutSecond());
    await takeFacts(office.db);
    await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
    expect(await published()).toEqual([
      { key: "org/fest/1", isGone: true },
      { key: "org/fest/2", isGone: true },
    ]);
  });

  it("[R3.32] releases its seat to another in the same batch", async () => {
    const seated = sample.order({ code: "OTHER", positions: [position({ id: 3, secret: "3", seat: "stalls-1-1" })] });
    expect(await office.apply(sample.order({ positions: [second] }), seated)).toEqual({});
    const held = await office.db.many(
      sql`select position.id from position where position.seat is not null and position.taken_as is not null`,
    );
    expect(held).toEqual([{ id: 3 }]);
  });
});

describe("a position that its order is sent with, and that cannot be read", () => {
  const unreadable = (rest: object = {}, order: object = {}) =>
    sample.order({ positions: [position(), { ...second, ...rest }], ...order });

  it.each([
    ["a secret that is no text", { secret: [] }, "positions.1.secret"],
    ["an unknown item", { item: 99 }, "positions.1.item"],
    ["a time that is none", { valid_until: "soon" }, "positions.1.valid_until"],
  ])("[R2.18] stays as it is: %s", async (_name, wrong, field) => {
    const { rejected, warned } = await office.applyApart(unreadable(wrong, { email: "ada@example.org" }));
    expect([rejected, Object.keys(warned[1] ?? {})]).toEqual([{}, [field]]);
    expect((await published()).find(({ key }) => key === "org/fest/2")).toMatchObject({
      position: { canceled: false, attendeeName: "Ada", order: { email: "ada@example.org" } },
      earlierCheckins: [{ id: 5 }],
    });
    expect(await positionsOf("ABCDE")).toEqual([
      [1, false],
      [2, false],
    ]);
  });

  it("[R2.17] counts where warnings say which position is doubtful", async () => {
    const { warned } = await office.applyApart(
      sample.order({ positions: [{ ...second, secret: [] }, position({ tax_rule: 99 })] }),
    );
    expect(Object.keys(warned[1] ?? {})).toEqual(["positions.0.secret", "positions.1.tax_rule"]);
  });

  it("[R2.18] is canceled with its order, and holds no seat then", async () => {
    await office.apply(unreadable({ secret: [] }, { status: "c" }));
    expect((await published()).find(({ key }) => key === "org/fest/2")).toMatchObject({
      position: { canceled: false, order: { status: "ORDER_STATUS_CANCELED" } },
    });
    const held = sql`select position.id from position where position.taken_as is not null`;
    expect(await office.db.many(held)).toEqual([]);
  });

  it("[R2.18] is not given away by its order", async () => {
    const other = sample.order({ code: "OTHER", positions: [second, position({ id: 3, secret: "three" })] });
    expect(await office.apply(unreadable({ secret: [] }), other)).toMatchObject({
      2: { "positions.0": ["Position 2 belongs to another order."] },
    });
    expect(await positionsOf("OTHER")).toEqual([[3, false]]);
  });

  it.each([
    ["a text for an id", { ...second, id: "two" }, "positions.1.id"],
    ["null for a position", null, "positions.1"],
    ["an id for a position", 2, "positions.1"],
    ["a list for a position", [second], "positions.1"],
  ])("[R2.18] may be any if its id cannot be read, so all that are missing stay: %s", async (_name, sent, name) => {
    const third = position({ id: 3, positionid: 3, secret: "three" });
    const { rejected, warned } = await office.applyApart(sample.order({ positions: [position(), third, sent] }));
    expect([rejected, Object.keys(warned[1] ?? {})]).toEqual([{}, [name.replace("1", "2")]]);
    const kept = new Map((await positionsOf("ABCDE")) as [number, boolean][]);
    expect(kept).toEqual(
      new Map([
        [1, false],
        [2, false],
        [3, false],
      ]),
    );
  });
});
