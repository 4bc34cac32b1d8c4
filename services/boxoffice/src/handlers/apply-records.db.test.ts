import { createHash } from "node:crypto";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { emptyTables, restartSequences } from "@tessera/testkit/empty-tables";
import { firstIdMadeHere } from "@tessera/values";
import { beforeEach, describe, expect, it } from "vitest";
import { nextMadeMedium } from "../store/media.ts";
import { drawPositionIds } from "../store/sales.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";

const { db } = await boxofficeDatabase();
let office: BoxOffice;

beforeEach(async () => {
  await emptyTables(db);
  // As in a new database: what tests refuse is taken again, and ids begin at one.
  for (const table of ["position", "quota"])
    await db.run(sql`alter table ${identifier(table)} drop constraint if exists refused`);
  await db.run(sql`drop function if exists fail cascade`);
  await restartSequences(db);
  office = boxOfficeOn(db);
});

const orderOf = (id: number, rest: Record<string, unknown> = {}) =>
  sample.order({ code: `C${id}`, positions: [position({ id, secret: `secret ${id}` })], ...rest });

const positionIds = async () =>
  (await db.many<{ id: number }>(sql`select position.id from position order by position.id`)).map((row) => row.id);

describe("a batch", () => {
  it("applies records in their order", async () => {
    expect(await office.apply(...festival, sample.quota(), orderOf(1))).toEqual({});
    expect(await positionIds()).toEqual([1]);
  });

  it("takes nothing", async () => {
    expect(await office.apply()).toEqual({});
  });

  it("[R6.2] rejects what is wrong and stores the rest", async () => {
    const rejected = await office.apply(
      ...festival,
      orderOf(1),
      orderOf(2, { status: "x" }),
      orderOf(3, { positions: [position({ id: 3, item: 9 })] }),
      record("voucher", { id: 1 }),
      record("order", "{"),
      orderOf(4),
    );
    expect(Object.fromEntries(Object.entries(rejected).map(([line, errors]) => [line, Object.keys(errors)]))).toEqual({
      5: ["status"],
      6: ["positions.0.item", "positions"],
      7: ["kind"],
      8: ["non_field_errors"],
    });
    expect(await positionIds()).toEqual([1, 4]);
  });

  it("[R6.11] tells every wrong field of a record at once", async () => {
    const wrong = sample.order({
      status: "z",
      sales_channel: "api.unknown",
      positions: [
        position({ id: 7, price: "x", item: 999, tax_rule: 9 }),
        position({ id: 7, positionid: 2, addon_to: 12, secret: {}, item: "y" }),
        { positionid: "first" },
      ],
    });
    const rejected = await office.apply(...festival, wrong, orderOf(1, { status: "x" }));
    expect(Object.keys(rejected[4] ?? {}).sort()).toEqual([
      "positions.0.price",
      "positions.1.item",
      "positions.1.secret",
      "positions.2.id",
      "positions.2.item",
      "positions.2.positionid",
      "positions.2.secret",
      "status",
    ]);
    expect(rejected[4]?.["status"]).toEqual(["This is not one of the valid choices: n, p, e, c."]);
    expect(rejected[5]).toEqual({ status: [expect.any(String)] });
    expect(await positionIds()).toEqual([]);
  });

  it("[R6.11] tells of a wrong record that its event is unknown, too", async () => {
    const rejected = await office.apply(sample.organizer(), sample.item({ position: "x" }));
    expect(rejected).toEqual({
      2: {
        position: ["A valid integer is required."],
        event: ["The event is not known; its record must come first."],
      },
    });
  });

  it("[R6.2] rejects a record that no message can tell of, and stores the rest", async () => {
    const options = Array.from({ length: 5000 }, (_, index) => ({
      id: index + 1,
      identifier: `option${index}`,
      position: index,
      answer: { en: "x".repeat(900) },
    }));
    const rejected = await office.apply(
      ...festival,
      sample.question({ id: 1, type: "C", options }),
      orderOf(1),
      sample.question({ id: 2 }),
    );
    expect(rejected).toEqual({
      [festival.length + 1]: {
        non_field_errors: [
          expect.stringMatching(/^The record could not be stored: it is too large: .* 4\.\d MiB, and at most 4\.0/),
        ],
      },
    });
    expect(await positionIds()).toEqual([1]);
    expect(await db.many(sql`select question.id from question`)).toEqual([{ id: 2 }]);
  });

  it("[R5.3] lets the later of two records with one key win", async () => {
    await office.apply(
      ...festival,
      sample.gate({ name: "first" }),
      sample.gate({ name: "second" }),
      sample.device({ gate: 1 }),
    );
    expect((await takeFacts(db)).at(-1)?.value).toMatchObject({ device: { gate: { name: "second" } } });
    await office.apply(
      sample.item({ name: { en: "A" } }),
      sample.item({ id: 2, name: { en: "B" } }),
      sample.item({ name: { en: "C" } }),
      record("item", { id: 2 }, { deleted: true }),
      sample.item({ id: 2, name: { en: "D" } }),
    );
    const facts = (await takeFacts(db)).map(({ key, value }) => [
      key,
      value === null ? null : (value["name"] as object),
    ]);
    expect(facts).toEqual([
      ["org/fest/1", { en: "A" }],
      ["org/fest/2", { en: "B" }],
      ["org/fest/1", { en: "C" }],
      ["org/fest/2", null],
      ["org/fest/2", { en: "D" }],
    ]);
  });

  it("[R5.1] changes nothing when it is sent again", async () => {
    const everything = [
      ...festival,
      sample.salesChannel(),
      sample.gate(),
      sample.apiKey({ permissions: ["*"], events: ["fest"] }),
      sample.device({ gate: 1 }),
      sample.eventSettings({ locale: "de" }),
      sample.taxRule(),
      sample.category(),
      sample.item({ id: 2, category: 1, tax_rule: 1, variations: [{ id: 1, value: { en: "Red" } }] }),
      sample.quota({ items: [1, 2], variations: [1] }),
      orderOf(1, { sales_channel: "api.shop", invoice_address: { name: "B", name_parts: { b: "1", a: "2" } } }),
    ];
    expect(await office.apply(...everything)).toEqual({});
    await takeFacts(db);
    const before = await contents();
    expect(await office.apply(...everything)).toEqual({});
    expect(await takeFacts(db)).toEqual([]);
    expect(await contents()).toEqual(before);
  });
});

describe("a statement that fails unexpectedly", () => {
  it("[R6.4, R10.2] costs only the record that it fails for", async () => {
    await office.apply(...festival);
    await db.run(sql`alter table position add constraint refused check (secret <> 'secret 2')`);
    const rejected = await office.apply(
      orderOf(1),
      orderOf(2, { email: "somebody@example.org" }),
      sample.gate(),
      orderOf(3),
    );
    expect(rejected).toEqual({ 2: { non_field_errors: ["The record could not be stored."] } });
    expect(await positionIds()).toEqual([1, 3]);
    const line = office.logged.find((each) => each.includes("a record could not be stored"));
    expect(JSON.parse(line ?? "")).toMatchObject({ level: "error", line: 2, kind: "order", error: { code: "23514" } });
    expect(office.logged.join()).not.toMatch(/secret 2|somebody@/);
  });

  it("[R6.4] leaves nothing of its record behind", async () => {
    await office.apply(...festival);
    await takeFacts(db);
    await db.run(sql`alter table position add constraint refused check (secret <> 'secret 2')`);
    await office.apply(orderOf(2));
    expect(await db.many(sql`select "order".code from "order"`)).toEqual([]);
    expect(await takeFacts(db)).toEqual([]);
  });
});

describe("a failure that may heal", () => {
  it("[R6.3] reaches the caller, and nothing is stored", async () => {
    await office.apply(...festival);
    const other = await db.dedicated();
    await other.one(sql`select pg_advisory_lock(hashtextextended('boxoffice records org/fest', 0))::text`);
    await expect(office.apply(orderOf(1))).rejects.toMatchObject({ name: "Fault", kind: "conflict" });
    await other.release();
    expect(await positionIds()).toEqual([]);
    expect(office.logged).toEqual([]);
    expect(await office.apply(orderOf(1))).toEqual({});
  });

  it("[R6.3] takes along what the batch had stored before it", async () => {
    await office.apply(...festival);
    await takeFacts(db);
    await db.run(sql`
      create function fail() returns trigger language plpgsql as
      $$ begin raise exception using errcode = 'lock_not_available'; end $$`);
    await db.run(sql`
      create trigger fail before insert on position for each row when (new.secret = 'secret 2') execute function fail()`);
    const batch = [sample.gate(), orderOf(1), sample.item({ id: 2 }), orderOf(2), orderOf(3)];
    await expect(office.apply(...batch)).rejects.toMatchObject({ name: "Fault", kind: "conflict" });
    expect(await db.many(sql`select id from gate union all select id from item where id = 2`)).toEqual([]);
    expect(await positionIds()).toEqual([]);
    expect(await takeFacts(db)).toEqual([]);
    await db.run(sql`drop trigger fail on position`);
    expect(await office.apply(...batch)).toEqual({});
    expect(await positionIds()).toEqual([1, 2, 3]);
  });
});

describe("batches at the same time", () => {
  it("[R6.5] neither block each other nor lose a row", async () => {
    await office.apply(...festival, sample.item({ id: 2 }));
    const batches = Array.from({ length: 12 }, (_, batch) => {
      const orders = Array.from({ length: 40 }, (_each, at) =>
        orderOf(at + 1, { comment: `batch ${batch}`, email: `b${batch}@example.org` }),
      );
      const items = [
        sample.item({ internal_name: `batch ${batch}` }),
        sample.item({ id: 2, internal_name: `batch ${batch}` }),
      ];
      const mixed = [...orders, ...items, sample.gate({ name: `batch ${batch}` })];
      return batch % 2 === 0 ? mixed : mixed.toReversed();
    });
    expect(await Promise.all(batches.map((batch) => office.apply(...batch)))).toEqual(batches.map(() => ({})));
    expect(await positionIds()).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));

    const facts = (await takeFacts(db)).filter(({ topic }) => topic === "position-changed");
    const newest = new Map<string, number>();
    for (const { key, value } of facts) {
      const revision = value?.["revision"] as number;
      expect(revision).toBeGreaterThan(newest.get(key) ?? 0);
      newest.set(key, revision);
    }
    const stored = await db.many<{ id: number; revision: number }>(
      sql`select position.id, position.revision from position`,
    );
    expect(newest).toEqual(new Map(stored.map(({ id, revision }) => [`org/fest/${id}`, revision])));
  });

  it("[R6.5] do not take away what another refers to", async () => {
    for (let round = 0; round < 10; round += 1) {
      await office.apply(...festival, sample.item({ id: 2 }));
      const [added, removed] = await Promise.all([
        office.apply(sample.order({ positions: [position({ item: 2 })] })),
        office.apply(record("item", { id: 2 }, { deleted: true })),
      ]);
      expect([added, removed].filter((rejected) => Object.keys(rejected).length > 0)).toHaveLength(1);
      await office.apply(record("event", { slug: "fest" }, { deleted: true }));
    }
  });

  it("[R3.8] give one token to one key only", async () => {
    const organizers = ["org", "other", "third", "fourth"];
    await office.apply(...organizers.map((slug): TestRecord => ({ ...sample.organizer({ slug }), organizer: slug })));
    const answers = await Promise.all(organizers.map((organizer) => office.apply({ ...sample.apiKey(), organizer })));
    expect(answers.filter((rejected) => rejected[1] === undefined)).toHaveLength(1);
    expect(answers.filter((rejected) => rejected[1]?.["token"] !== undefined)).toHaveLength(3);
  });
});

describe("ids of our own", () => {
  it("[R4.3] are larger than all that records may bring along, and differ when many are drawn at once", async () => {
    const highest = firstIdMadeHere - 1;
    const rejected = await office.apply(
      sample.organizer(),
      sample.event({ has_subevents: true }),
      sample.subevent({ id: 11 }),
      sample.item({ id: 14 }),
      sample.order({ positions: [position({ id: highest, item: 14, subevent: 11 })] }),
      sample.medium({ id: highest }),
    );
    expect(rejected).toEqual({});
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        db.transaction(async (tx) => (at % 2 === 0 ? drawPositionIds(tx, 100) : [await nextMadeMedium(tx)])),
      ),
    );
    for (const parity of [0, 1]) {
      const drawn = ids.filter((_, at) => at % 2 === parity).flat();
      expect(new Set(drawn).size).toBe(drawn.length);
      expect(Math.min(...drawn)).toBeGreaterThan(highest);
    }
  });
});

describe("tokens", () => {
  it("[R10.3, S2.1] are nowhere in clear: not in a table, not in a fact, not in the log", async () => {
    await db.run(sql`alter table quota add constraint refused check (id <> 5)`);
    await office.apply(
      ...festival,
      sample.apiKey(),
      sample.device(),
      sample.apiKey({ active: false }),
      sample.quota({ id: 5 }),
      sample.device({ device_id: 2 }),
      record("device", { device_id: 2, token: "device-in-clear-text", gate: 9 }),
    );
    const everything = JSON.stringify(await contents());
    expect(everything).not.toContain("in-clear-text");
    expect(office.logged.join()).not.toContain("in-clear-text");
    const hash = createHash("sha256").update("key-in-clear-text").digest("hex");
    expect(everything).toContain(hash);
    const keys = (await takeFacts(db)).filter(({ topic }) => topic === "credential-changed");
    expect(keys.find(({ value }) => value?.["id"] === hash)?.value?.["tokenHash"]).toEqual(Buffer.from(hash, "hex"));
    expect(keys.map(({ value }) => Buffer.from(JSON.stringify(value)).toString())).not.toContainEqual(
      expect.stringContaining("in-clear-text"),
    );
  });
});

/** Every row of every table, as text; bytes also decoded as UTF-8. */
async function contents(): Promise<Record<string, string[]>> {
  const tables = await db.many<{ name: string }>(sql`
    select table_name as name
      from information_schema.tables
     where table_schema = 'boxoffice'
       and table_name <> 'migration'
     order by table_name`);
  const rows: Record<string, string[]> = {};
  for (const { name } of tables) {
    const table = identifier(name);
    const all = await db.many<{ row: string }>(sql`select ${table}::text as row from ${table} order by 1`);
    rows[name] = all.map(({ row }) =>
      row.replaceAll(/\\x([0-9a-f]+)/g, (hex, digits: string) => `${hex} ${Buffer.from(digits, "hex").toString()}`),
    );
  }
  return rows;
}
