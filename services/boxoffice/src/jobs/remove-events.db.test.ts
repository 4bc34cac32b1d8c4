import { diskFiles } from "@tessera/engines/files/disk";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { finishWork, passTime } from "@tessera/testkit/finish-work";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { applyRecords } from "../handlers/apply-records.ts";
import { type RemovalPlace, removeNext } from "../records/event-removal.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { position, record, sample, send, type TestRecord } from "../testing/records.ts";
import { removeEvents } from "./remove-events.ts";

const { database, db } = await boxofficeDatabase();
afterAll(() => database.drop());
beforeEach(() => emptyTables(db));

const log = createLog({ service: "test", destination: { write: () => {} } });
const files = diskFiles({ directory: "/nonexistent" });

/** Applies records as the service does, without its workers. */
const apply = async (...records: TestRecord[]) =>
  (await applyRecords({ records: send(records) }, { db, files, log })).rejected;

const removal = record("event", { slug: "fest" }, { deleted: true });
const codes = Array.from({ length: 7 }, (_, index) => `CODE${index}`);
const orders = codes.map((code, index) =>
  sample.order({ code, positions: [position({ id: index + 1, secret: `secret${index}` })] }),
);
const festival = [
  sample.organizer(),
  sample.event(),
  sample.category(),
  sample.item(),
  sample.quota(),
  sample.question(),
  sample.seat(),
  sample.revokedSecret(),
  sample.blockedSecret(),
  ...orders,
];

const work = () => finishWork(db, [removeEvents({ db })]);

/** The rows of an event, by table. */
async function rowsOf(event: string): Promise<Record<string, number>> {
  const tables = [
    "position",
    "order",
    "item",
    "category",
    "quota",
    "question",
    "seat",
    "revoked_secret",
    "blocked_secret",
    "document_change",
    "held_claim",
    "former_use",
  ];
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const { count } = await db.one<{ count: number }>({
      text: `select count(*)::integer as count from "${table}" where event = $1`,
      values: [event],
    });
    if (count > 0) rows[table] = count;
  }
  return rows;
}

const eventRows = () => db.many(sql`select event.slug, event.is_removed from event order by event.slug`);

describe("an event that is removed", () => {
  it("[R3.75] exists for no request at once, and everything in it is deleted behind that", async () => {
    expect(await apply(...festival)).toEqual([]);
    await takeFacts(db);
    expect(await apply(removal)).toEqual([]);
    expect((await takeFacts(db)).map(({ topic, key }) => [topic, key])).toEqual([["event-changed", "org/fest/"]]);
    expect(await rowsOf("fest")).toMatchObject({ position: 7, order: 7 });
    await work();
    expect(await rowsOf("fest")).toEqual({});
    expect(await eventRows()).toEqual([]);
    const facts = await takeFacts(db);
    expect(facts.every(({ value }) => value === null)).toBe(true);
    expect(facts.filter(({ topic }) => topic === "position-changed").map(({ key }) => key)).toEqual(
      codes.map((_, index) => `org/fest/${index + 1}`),
    );
    expect([...new Set(facts.map(({ topic }) => topic))].sort()).toEqual([
      "blocked-secret-changed",
      "category-changed",
      "item-changed",
      "position-changed",
      "question-changed",
      "quota-changed",
      "revoked-secret-changed",
    ]);
  });

  it("[R3.75] keeps its records waiting until that is done, also in one batch with its removal", async () => {
    await apply(...festival);
    const again = [sample.event({ name: { en: "Again" } }), sample.item({ id: 5 })];
    expect(await apply(removal, ...again)).toEqual([]);
    expect(await rowsOf("fest")).toEqual({ item: 1, document_change: 1 });
    expect(await eventRows()).toEqual([{ slug: "fest", is_removed: false }]);
    // An earlier removal does not affect the new event.
    await work();
    expect(await rowsOf("fest")).toEqual({ item: 1, document_change: 1 });
  });

  it("[R3.75] keeps what came before it in its batch from being refused", async () => {
    await apply(sample.organizer(), sample.event(), sample.item());
    expect(await apply(...orders, removal, removal)).toEqual([]);
    await work();
    expect(await rowsOf("fest")).toEqual({});
    expect(await apply(removal, record("organizer", { slug: "org" }, { deleted: true }))).toEqual([]);
    expect(await db.many(sql`select organizer.slug from organizer`)).toEqual([]);
  });

  it("[R3.75] is deleted wherever a process is killed", async () => {
    await apply(...festival);
    await takeFacts(db);
    await apply(removal);
    const scope = { organizer: "org", event: "fest" };
    let steps = 0;
    for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; steps += 1) {
      expect(steps).toBeLessThan(100);
      const from: RemovalPlace = place;
      const killed = db.transaction(async (tx) => {
        await removeNext(tx, scope, { place: from, limit: 2 });
        throw new Error("killed");
      });
      await expect(killed).rejects.toThrow("killed");
      place = await db.transaction((tx) => removeNext(tx, scope, { place: from, limit: 2 }));
      // The next process does not know the progress.
      if ([3, 9, 20].includes(steps) && place !== undefined) place = { part: 0 };
    }
    expect(await rowsOf("fest")).toEqual({});
    expect(await eventRows()).toEqual([]);
    const retracted = (await takeFacts(db)).filter(({ topic }) => topic === "position-changed");
    expect(retracted).toHaveLength(7);
  });

  it("[R3.75] is deleted with all that is kept several times of one voucher or position", async () => {
    await apply(...festival);
    await db.run(sql`
      insert into held_claim (organizer, event, voucher, hold, usages)
      select 'org', 'fest', 7, gen_random_uuid(), 1
        from generate_series(1, 5)`);
    await db.run(sql`
      insert into former_use (organizer, event, voucher, position, since_at, until_at, counts)
      select 'org', 'fest', 7, 1, now(), now() + number * interval '1 hour', true
        from generate_series(1, 5) as numbers (number)`);
    await apply(removal);
    const scope = { organizer: "org", event: "fest" };
    for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; ) {
      const from: RemovalPlace = place;
      place = await db.transaction((tx) => removeNext(tx, scope, { place: from, limit: 2 }));
    }
    expect(await rowsOf("fest")).toEqual({});
  });

  it("[R3.75] is deleted by many processes at once, beside imports of other events of its organizer", async () => {
    await apply(...festival);
    await apply({ ...sample.event({ slug: "other" }), event: "other" });
    await apply(removal);
    const scope = { organizer: "org", event: "fest" };
    const remove = async () => {
      for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; ) {
        const from: RemovalPlace = place;
        place = await db.transaction((tx) => removeNext(tx, scope, { place: from, limit: 1 }));
      }
    };
    const others = Array.from({ length: 5 }, (_, id) => ({ ...sample.item({ id: id + 1 }), event: "other" }));
    await Promise.all([remove(), remove(), work(), ...others.map((each) => apply(each))]);
    await passTime(db);
    await work();
    expect(await rowsOf("fest")).toEqual({});
    expect(await rowsOf("other")).toEqual({ item: 5, document_change: 1 });
    expect(await eventRows()).toEqual([{ slug: "other", is_removed: false }]);
  });
});
