import { readFile } from "node:fs/promises";
import { systemClock } from "@tessera/kit/clock";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { migrateAll } from "../migrate.ts";
import { diagnose } from "./diagnose.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let voucher: Db;
let boxoffice: Db;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await migrateAll({ url: database.url, names: ["all"] });
  const open = (schema: string) =>
    openDatabase({ url: database.url, applicationName: "test", log, schema, role: roleOf(schema) });
  [voucher, boxoffice] = [open("voucher"), open("boxoffice")];
});
afterAll(async () => {
  await Promise.all([voucher, boxoffice].map((db) => db.close()));
  await database.drop();
});

/** So many that most parts of a comparison have several rows. */
const many = 6000;

/** An event with vouchers that block quota, a tenth of them used once, consistent in both services. */
beforeEach(async () => {
  await Promise.all([emptyTables(voucher), emptyTables(boxoffice)]);
  await voucher.run(sql`
    insert into event (organizer, event, has_subevents, document, revision)
    values ('org', 'fest', false, '{}', 1)`);
  await voucher.run(sql`
    insert into voucher (organizer, event, id, revision, code, max_usages, min_usages, valid_until_at, block_quota,
                         allow_ignore_quota, price_mode, item, tag, comment, show_hidden_items, all_addons_included,
                         all_bundles_included, created_at, redeemed, budget_used, base_redeemed, base_budget_used)
    select 'org', 'fest', number, number, 'CODE' || number, 3, 1,
           case when number % 3 = 0 then timestamptz '2031-05-06 07:08:09.123456Z' end, true, false, 'none', 1, '', '',
           true, false, false, now(), (number % 10 = 0)::integer, case when number % 10 = 0 then 2.5 else 0 end, 0, 0
      from generate_series(1, ${many}::integer) as number`);
  await voucher.run(sql`
    insert into current_use (organizer, event, position, revision, voucher, since_at, counts, budget)
    select 'org', 'fest', number, 1, number, now(), true, 2.5
      from generate_series(10, ${many}::integer, 10) as number`);
  await boxoffice.run(sql`
    insert into organizer (slug, data, revision) values ('org', '{}', 1)`);
  await boxoffice.run(sql`
    insert into event (organizer, slug, data, settings, revision) values ('org', 'fest', '{}', '{}', 1)`);
  await boxoffice.run(sql`
    insert into voucher_claim (organizer, event, id, item, max_usages, blocks, uses, valid_until_at, revision)
    select 'org', 'fest', number, 1, 3, true, (number % 10 = 0)::integer,
           case when number % 3 = 0 then timestamptz '2031-05-06 07:08:09.123456Z' end, number
      from generate_series(1, ${many}::integer) as number`);
  await boxoffice.run(sql`
    insert into "order" (organizer, event, code, status, data, revision) values ('org', 'fest', 'A', 'p', '{}', 1)`);
  await boxoffice.run(sql`
    insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, taken_as, voucher,
                          budget_use, state, revision)
    select 'org', 'fest', number, 'A', number, 1, 's' || number, false, 'paid',
           case when number % 10 = 0 then number end, case when number % 10 = 0 then 2.50 end, '', 1
      from generate_series(1, 100 + ${many}::integer) as number
     where number <= ${many}::integer or number % 10 > 0`);
  await boxoffice.run(sql`
    insert into taken_capacity (organizer, event, item, taken_as, positions)
    select 'org', 'fest', 1, 'paid', count(*) from position`);
  // Otherwise plans may rest on statistics of the emptied tables: nested loops over thousands of rows.
  await Promise.all([voucher.run(sql`analyze`), boxoffice.run(sql`analyze`)]);
});

async function examine({ limitMs = 20_000 } = {}): Promise<string[]> {
  const question = {
    names: ["boxoffice", "voucher"],
    environment: { HTTP_PORT: "18439", DATABASE_URL: database.url },
    data: "/nonexistent",
    health: [],
  };
  const findings = await diagnose(question, { limitMs, clock: systemClock });
  return findings
    .filter(({ area }) => area === "accounts")
    .map(({ level, what, mend }) => [`${level}: ${what}`, ...(mend === undefined ? [] : [mend])].join(" → "))
    .sort();
}

/** A time limit that leaves time to wait for facts, on this machine as it is now. */
async function findRoomyLimit(): Promise<number> {
  const begunAt = performance.now();
  expect(await examine({ limitMs: 600_000 })).toEqual(agreed);
  return Math.max(2000, 4 * (performance.now() - begunAt));
}

const agreed = [
  "ok: holds of capacity that are under way, in boxoffice: 0 rows, as voucher has them",
  "ok: how often positions use vouchers, in boxoffice: 600 rows, as a recount has them",
  "ok: how often vouchers were used, in voucher: 6000 rows, as a recount has them",
  "ok: positions that were bought with vouchers, in voucher: 600 rows, as boxoffice has them",
  "ok: uses that a shop confirmed more than a day ago, of positions that have not arrived, in voucher: 0 rows, as a recount has them",
  "ok: what positions take of products, in boxoffice: 1 row, as a recount has them",
  "ok: what vouchers take of quotas and seats, in boxoffice: 6000 rows, as voucher has them",
];

it("services that say the same of vouchers agree, also where one says it in other words", async () => {
  expect(await examine()).toEqual(agreed);
});

it("a row that is missing, in excess or different is named, with the rebuild that mends it", async () => {
  await boxoffice.run(sql`update voucher_claim set uses = 2, max_usages = 4 where id = 20`);
  await boxoffice.run(sql`delete from voucher_claim where id in (7, 5501)`);
  await boxoffice.run(sql`update voucher_claim set max_usages = 9 where id = 3000`);
  await boxoffice.run(sql`update voucher_claim set id = 777777 where id = 9`);
  await voucher.run(sql`update current_use set counts = false where position = 40`);
  const found = await examine();
  expect(found).toEqual([
    agreed[0],
    agreed[4],
    agreed[5],
    "wrong: how often positions use vouchers: boxoffice has 1 row that a recount has differently (org/fest/20) → tessera topics rebuild voucher.voucher-changed.v1",
    "wrong: how often vouchers were used: voucher has 1 row that a recount has differently (org/fest/40) → tessera topics rebuild boxoffice.voucher-use-changed.v1",
    "wrong: positions that were bought with vouchers: voucher has 1 row that boxoffice has differently (org/fest/40) → tessera topics rebuild boxoffice.voucher-use-changed.v1",
    "wrong: what vouchers take of quotas and seats: boxoffice lacks 3 rows that voucher has, has 1 row that voucher does not have, has 1 row that voucher has differently (org/fest/7, org/fest/9, org/fest/3000, org/fest/5501, org/fest/777777) → tessera topics rebuild voucher.voucher-changed.v1",
  ]);
});

it("what is taken is what orders and positions say, each date, product and way apart, and is mended as the page says", async () => {
  await boxoffice.run(sql`
    insert into "order" (organizer, event, code, status, data, revision)
    values ('org', 'fest', 'B', 'n', '{}', 1), ('org', 'fest', 'C', 'c', '{}', 1)`);
  // A position of an expired or canceled order, and a canceled position, take nothing, whatever their row says.
  await boxoffice.run(sql`
    insert into position (organizer, event, id, order_code, positionid, item, variation, subevent, secret, canceled, taken_as,
                          state, revision)
    select 'org', 'fest', 500000 + number, case when number = 3 then 'C' else 'B' end, number, 2, 21, 5, 't' || number,
           number = 2, case when number = 1 then 'pending' end, '', 1
      from generate_series(1, 3) as number`);
  await boxoffice.run(sql`
    insert into taken_capacity (organizer, event, subevent, item, variation, taken_as, positions)
    values ('org', 'fest', 5, 2, 21, 'pending', 1), ('org', 'fest', 6, 2, 21, 'pending', 0)`);
  const found = async () => (await examine()).find((line) => line.includes("what positions take"));
  expect(await found()).toBe(agreed[5]?.replace("1 row", "2 rows"));
  await boxoffice.run(sql`
    update taken_capacity set positions = positions + 1 where taken_capacity.item = 1`);
  await boxoffice.run(sql`update taken_capacity set subevent = 7 where taken_capacity.subevent = 5`);
  expect(await found()).toBe(
    "wrong: what positions take of products: boxoffice lacks 1 row that a recount has, has 1 row that a recount does not have, has 1 row that a recount has differently (org/fest/0/1/0/paid, org/fest/5/2/21/pending, org/fest/7/2/21/pending) → count again by the statement under `What positions take` in docs/operations.md",
  );
  const page = await readFile(new URL("../../../../docs/operations.md", import.meta.url), "utf8");
  const [, block = ""] = /### What positions take\n[^#]*?```sql\nbegin;\n([^`]*)commit;\n```/.exec(page) ?? [];
  const statements = block.split(";").filter((each) => each.trim() !== "");
  await boxoffice.transaction(async (tx) => {
    for (const text of statements) await tx.run(sql(Object.assign([text], { raw: [text] })));
  });
  expect(await found()).toBe(agreed[5]?.replace("1 row", "2 rows"));
});

it("what is taken while orders come and go is no finding", async () => {
  let isOver = false;
  let id = 600_000;
  const sell = async () => {
    while (!isOver) {
      id += 1;
      const change = id % 2 === 0 ? sql`1` : sql`-1`;
      await boxoffice.transaction(async (tx) => {
        await tx.run(sql`
          update position set canceled = ${id % 2 === 1}, revision = ${id} where position.id = 1`);
        await tx.run(sql`
          update taken_capacity set positions = positions + ${change} where taken_capacity.item = 1`);
      });
    }
  };
  const selling = sell();
  const found = await examine();
  isOver = true;
  await selling;
  expect(found.filter((line) => line.includes("what positions take"))).toEqual([agreed[5]]);
});

it("a hold that voucher does not know is one that does not end; one that it knows may still be under way", async () => {
  const [known, lost] = ["0b6f0f0e-3a52-4f0c-9c38-6d1f3f3f8f11", "0b6f0f0e-3a52-4f0c-9c38-6d1f3f3f8f12"];
  for (const hold of [known, lost])
    await boxoffice.run(sql`
      insert into held_claim (organizer, event, voucher, hold, usages) values ('org', 'fest', 5, ${hold}::uuid, 1)`);
  await voucher.run(sql`insert into asked_hold (hold, organizer, event) values (${known}::uuid, 'org', 'fest')`);
  expect(await examine()).toEqual([
    ...agreed.slice(1),
    `wrong: holds of capacity that are under way: boxoffice has 1 row that voucher does not have (org/fest/${lost}) → tessera topics rebuild voucher.voucher-changed.v1`,
  ]);
});

it("a confirmed use whose position does not arrive is named after a day", async () => {
  const confirm = (position: number, days: number) =>
    voucher.run(sql`
      insert into current_use (organizer, event, position, revision, voucher, since_at, counts, budget)
      values ('org', 'fest', ${position}, 0, 10, now() - ${days} * interval '1 day', true, 0)`);
  await confirm(900_001, 0);
  await confirm(900_002, 2);
  await voucher.run(sql`update voucher set redeemed = 3 where id = 10`);
  // Until then they keep the places of the voucher.
  expect((await examine()).filter((line) => !line.startsWith("ok"))).toEqual([
    "wrong: uses that a shop confirmed more than a day ago, of positions that have not arrived: voucher has 1 row that a recount does not have (org/fest/900002) → import the orders of these positions; of an order that was never placed, as a canceled one",
  ]);
});

it("what differs while facts wait is no finding, nor what its owner changes meanwhile", async () => {
  const limitMs = await findRoomyLimit();
  await boxoffice.run(sql`update voucher_claim set max_usages = 9 where id = 3000`);
  await voucher.run(sql`insert into outbox (topic, key) values ('voucher.voucher-changed.v1', 'org/fest/3000')`);
  expect(await examine({ limitMs })).toContain(
    "skipped: 1 row of what vouchers take of quotas and seats, in boxoffice",
  );
  let revision = 1_000_000;
  const change = setInterval(() => {
    revision += 1;
    void voucher.run(sql`update voucher set revision = ${revision} where id = 3000`);
  }, 50);
  // Late enough for the doctor to have seen the row before, and early enough for it to look again.
  setTimeout(() => void voucher.run(sql`delete from outbox`), 0.7 * limitMs);
  const found = await examine({ limitMs });
  clearInterval(change);
  expect(found).toEqual(agreed);
});

it("what a position takes of its voucher is no finding while voucher does not know of it", async () => {
  const limitMs = await findRoomyLimit();
  await boxoffice.run(sql`update voucher_claim set uses = uses + 1 where id = 20`);
  await boxoffice.run(sql`insert into outbox (topic, key) values ('boxoffice.voucher-use-changed.v1', 'org/fest/20')`);
  const name = "what vouchers take of quotas and seats";
  expect(await examine({ limitMs })).toContain(`skipped: 1 row of ${name}, in boxoffice`);
  await boxoffice.run(sql`delete from outbox`);
  expect(await examine()).toContain(
    `wrong: ${name}: boxoffice has 1 row that voucher has differently (org/fest/20) → tessera topics rebuild voucher.voucher-changed.v1`,
  );
});

it("what a record says too little of counts nothing, and not less", async () => {
  await voucher.run(sql`
    update voucher set counted_as_of_at = now() - interval '1 hour', redeemed = 0, budget_used = 0 where id = 40`);
  await voucher.run(sql`update current_use set counts = false, budget = 0 where position = 40`);
  await voucher.run(sql`
    insert into former_use (organizer, event, voucher, position, since_at, until_at, counts, budget)
    values ('org', 'fest', 40, 40, now() - interval '2 hours', now(), true, 2.5)`);
  expect((await examine()).filter((line) => line.includes("how often"))).toEqual([agreed[1], agreed[2]]);
});
