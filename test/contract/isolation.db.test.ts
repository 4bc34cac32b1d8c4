import { randomUUID } from "node:crypto";
import { migrateAll } from "@tessera/cli/migrate";
import { loadServices } from "@tessera/cli/services";
import { withClient } from "@tessera/kit/pg/administer";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
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

it("[S11.13] lets every role read its own schema and no other's", async () => {
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

it("[S11.13] lets the user of a service act as its role and as no other", async () => {
  const schemas = [...open.keys()];
  await withClient({ url: database.url, purpose: "test" }, async (client) => {
    for (const own of schemas) {
      const user = `test_${own}_${randomUUID().slice(0, 8)}`;
      await client.query(`create role ${user} login in role ${roleOf(own)}`);
      // As after a login of this user.
      await client.query(`set session authorization ${user}`);
      const answers = [];
      for (const other of schemas) {
        const acted = await answerTo(client.query(`set role ${roleOf(other)}`));
        await client.query("reset role");
        const wrote = await answerTo(client.query(`delete from ${other}.outbox`));
        answers.push([other, acted, wrote]);
      }
      await client.query("reset session authorization");
      await client.query(`drop role ${user}`);
      expect(answers).toEqual(
        schemas.map((other) => (other === own ? [other, "done", "done"] : [other, "42501", "42501"])),
      );
    }
  });
});

function answerTo(statement: Promise<unknown>): Promise<string> {
  return statement.then(
    () => "done",
    (error: { code: string }) => error.code,
  );
}

it("[S11.13] lets no role create anything outside its schema", async () => {
  for (const db of open.values()) {
    await expect(db.run(sql`create table public.intruder (id bigint)`)).rejects.toMatchObject({ code: "42501" });
    await expect(db.run(sql`create schema intruder`)).rejects.toMatchObject({ code: "42501" });
  }
});
