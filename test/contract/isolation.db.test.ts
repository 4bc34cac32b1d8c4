import { migrateAll } from "@tessera/cli/migrate";
import { loadServices } from "@tessera/cli/services";
import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
const open = new Map<string, Db>();

beforeAll(async () => {
  database = await createEmptyDatabase();
  await migrateAll({ url: database.url, names: ["all"] });
  const log = createLog({ service: "test", destination: { write: () => {} } });
  for (const { schema } of await loadServices(["all"])) {
    open.set(schema, openDatabase({ url: database.url, schema, role: roleOf(schema), applicationName: "test", log }));
  }
});
afterAll(async () => {
  await Promise.all([...open.values()].map((db) => db.close()));
  await database.drop();
});

it("lets every role read its own schema and no other's", async () => {
  const schemas = [...open.keys()];
  expect(schemas.length).toBeGreaterThanOrEqual(3);
  for (const [own, db] of open) {
    for (const other of schemas) {
      const read = db.many(sql`select outbox.id from ${identifier(other)}.outbox limit 1`);
      if (other === own) await expect(read).resolves.toEqual([]);
      else await expect(read).rejects.toMatchObject({ code: "42501" });
    }
  }
});

it("lets no role create anything outside its schema", async () => {
  for (const db of open.values()) {
    await expect(db.run(sql`create table public.intruder (id bigint)`)).rejects.toMatchObject({ code: "42501" });
    await expect(db.run(sql`create schema intruder`)).rejects.toMatchObject({ code: "42501" });
  }
});
