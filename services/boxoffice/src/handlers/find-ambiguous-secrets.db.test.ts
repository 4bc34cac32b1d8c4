import { sql } from "@tessera/kit/pg/sql";
import { countScannedRows } from "@tessera/testkit/count-scanned-rows";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import * as secrets from "../store/ambiguous-secrets.ts";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";
import { findAmbiguousSecrets } from "./find-ambiguous-secrets.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);

beforeEach(async () => {
  await emptyTables(db);
  await take(...festival);
});

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

const ask = async (...events: readonly string[]) =>
  (await findAmbiguousSecrets({ events: events.map((event) => ({ organizer: "org", event })) }, { db })).secrets;

/** An order of one position. */
const sold = (id: number, secret: string, rest: object = {}, order: object = {}) =>
  sample.order({ code: `C${id}`, positions: [position({ id, secret, ...rest })], ...order });

describe("ambiguous secrets", () => {
  it("[R7.12] are those that several positions of an event have, told by the positions", async () => {
    await take(sold(1, "alone"), sold(8, "shared"), sold(3, "shared"), sold(4, "Shared"));
    expect(await ask("fest")).toEqual([
      {
        organizer: "org",
        event: "fest",
        count: 2,
        positions: [
          { id: 3, orderCode: "C3" },
          { id: 8, orderCode: "C8" },
        ],
      },
    ]);
    await take(sold(8, "its own"));
    expect(await ask("fest")).toEqual([]);
  });

  it("[R7.12] occur in one order as well", async () => {
    const positions = [1, 2].map((id) => position({ id, positionid: id, secret: "shared" }));
    await take(sample.order({ code: "TWICE", positions }));
    expect(await ask("fest")).toMatchObject([
      { count: 2, positions: [{ orderCode: "TWICE" }, { orderCode: "TWICE" }] },
    ]);
  });

  it("[R7.12] are not those of canceled positions, which are unknown at the gate", async () => {
    await take(sold(1, "shared", { canceled: true }), sold(2, "shared"));
    expect(await ask("fest")).toEqual([]);
    await take(sold(3, "shared", {}, { status: "c" }));
    expect(await ask("fest")).toMatchObject([{ positions: [{ id: 2 }, { id: 3 }] }]);
  });

  it("[R7.12] are looked for event by event, in order, once each", async () => {
    const other = { ...sample.event({ slug: "arts" }), event: "arts" };
    const item = { ...sample.item(), event: "arts" };
    await take(other, item, { ...sold(1, "shared"), event: "arts" }, sold(2, "shared"));
    expect(await ask("fest", "arts")).toEqual([]);
    await take(sold(3, "shared"), { ...sold(4, "shared"), event: "arts" });
    expect((await ask("fest", "arts", "fest", "none")).map(({ event }) => event)).toEqual(["arts", "fest"]);
    expect((await ask("fest")).map(({ event }) => event)).toEqual(["fest"]);
  });

  it("[R7.12, R7.13] are the first hundred, each with its first ten positions", async () => {
    const pairs = Array.from({ length: 101 }, (_, at) => [sold(2 * at + 1, `s${at}`), sold(2 * at + 2, `s${at}`)]);
    await take(...pairs.flat());
    const found = await ask("fest");
    expect(found.map(({ positions }) => positions[0]?.id)).toEqual(Array.from({ length: 100 }, (_, at) => 2 * at + 1));
    await take(...Array.from({ length: 12 }, (_, at) => sold(500 + at, "s0")));
    const [first] = await ask("fest");
    expect(first).toMatchObject({ count: 14 });
    expect(first?.positions.map(({ id }) => id)).toEqual([1, 2, ...Array.from({ length: 8 }, (_, at) => 500 + at)]);
  });

  it("are asked about a thousand events at most", async () => {
    await expect(ask(...Array.from({ length: 1001 }, (_, at) => `e${at}`))).rejects.toMatchObject({ kind: "invalid" });
  });

  it("go with their event", async () => {
    await take(sold(1, "shared"), sold(2, "shared"), record("event", { slug: "fest" }, { deleted: true }));
    expect(await ask("fest")).toEqual([]);
  });

  it("of small events are found without reading all of a large one for each", async () => {
    await take(sold(1, "alone"));
    await db.run(sql`
      insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, state, revision)
      select 'org', 'fest', 1000 + number, 'C1', number, 1, 'bulk ' || number, false, ''::bytea, 1
        from generate_series(1, 5000) as number`);
    await db.run(sql`analyze position`);
    const scopes = Array.from({ length: 50 }, (_, index) => ({ organizer: "org", event: `small${index}` }));
    const scanned = await db.transaction((tx) =>
      countScannedRows(tx, "position", async () => {
        expect(await secrets.findAmbiguousSecrets(tx, scopes, { most: 100, mostPositions: 10 })).toEqual([]);
      }),
    );
    expect(scanned).toBe(0);
  });
});
