import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { claimRows, putClaims } from "./voucher-claim-rows.ts";
import { recountedUsesRows, usesRows } from "./voucher-use-rows.ts";

const migrations = new URL("../../migrations/", import.meta.url);
const [first, second] = ["0020_claims_beside_positions.sql", "0030_uses_beside_records.sql"];

let database: TestDatabase;
let db: Db;
let folder: string;

async function migrate(name: string): Promise<void> {
  const text = await readFile(new URL(name, migrations), "utf8");
  const statements = text.replaceAll(/^ *--.*$/gm, "").split(";");
  await db.transaction(async (tx) => {
    for (const statement of statements) if (statement.trim() !== "") await tx.run({ text: statement, values: [] });
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-migrations-"));
  const earlier = (await readdir(migrations)).filter((name) => name < first);
  for (const name of earlier) await cp(new URL(name, migrations), join(folder, name));
  database = await createTestDatabase([{ schema: "boxoffice", migrations: pathToFileURL(`${folder}/`) }]);
  db = database.open("boxoffice");
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

it("[V4.18] what vouchers took before claims stood beside positions, they take behind it", async () => {
  await db.run(sql`insert into organizer (slug, data, revision) values ('org', '{}', 1)`);
  await db.run(
    sql`insert into event (organizer, slug, data, settings, revision) values ('org', 'fest', '{}', '{}', 1)`,
  );
  await db.run(
    sql`insert into "order" (organizer, event, code, status, data, revision) values ('org', 'fest', 'A', 'p', '{"datetime": "2026-01-01T10:00:00Z"}', 1)`,
  );
  // Vouchers 1 and 2 have no claim, and no position uses 5 and 6; one position that names 1 is canceled.
  await db.run(sql`
    insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, taken_as, voucher, state, revision)
    select 'org', 'fest', number, 'A', number, 1, 's' || number, number = 4, case when number <> 4 then 'paid' end,
           1 + number % 4, 'x', number
      from generate_series(1, 9) as numbers (number)`);
  await db.run(sql`
    insert into voucher_claim (organizer, event, id, item, amount, seat, revision)
    values ('org', 'fest', 3, 1, 2, null, 3), ('org', 'fest', 4, 1, 0, 'A1', 4), ('org', 'fest', 5, 1, 0, null, 5),
           ('org', 'fest', 6, 1, 7, 'A2', 6)`);
  await migrate(first);
  // The record of 3 says three uses, and contains both of its positions.
  await db.run(sql`
    update voucher_claim
       set max_usages = max_usages + 1,
           uses_elsewhere = 3 - 2,
           counted_as_of_at = '2026-06-01T00:00:00Z'
     where voucher_claim.id = 3`);
  await migrate(second);
  const takes = async () => {
    const claims = await db.many<{ id: number; content: string }>(claimRows);
    return claims.map(({ id, content }) => [id, content]).sort();
  };
  const taken = [
    [3, "1/0/0/0/2/0"],
    [4, "1/0/0/0/0/0/A1"],
    [5, "1/0/0/0/0/0"],
    [6, "1/0/0/0/7/0/A2"],
  ];
  expect(await takes()).toEqual(taken);
  const countedAsOf = Date.UTC(2026, 5, 1) * 1000;
  const told = { organizer: "org", event: "fest", id: 3, item: 1, maxUsages: 5, blocks: true };
  await putClaims(db, [{ ...told, revision: 9, recordedUses: 3, countedAsOf }]);
  expect(await takes()).toEqual(taken);
  const byId = (rows: { id: number }[]) => rows.sort((one, other) => one.id - other.id);
  expect(byId(await db.many(usesRows))).toEqual(byId(await db.many(recountedUsesRows)));
});
