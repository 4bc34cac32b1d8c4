import { migrateAll } from "@tessera/cli/migrate";
import { loadServices } from "@tessera/cli/services";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { printSchema } from "@tessera/testkit/print-schema";
import { expect, it } from "vitest";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

it("has the reviewed schema of every service in its schema.sql (`npm run schema` writes them)", async () => {
  const database = await createEmptyDatabase();
  try {
    await migrateAll({ url: database.url, names: ["all"] });
    for (const { name, schema } of await loadServices(["all"])) {
      const folder = name === "gateway" ? name : `services/${name}`;
      await expect(await printSchema(database.url, schema)).toMatchFileSnapshot(`../../${folder}/schema.sql`);
    }
  } finally {
    await database.drop();
  }
});

it("[D10.4] has no statistics of columns with personal data, nor of indexes on them: they contain values", async () => {
  const database = await createEmptyDatabase();
  try {
    await migrateAll({ url: database.url, names: ["all"] });
    const db = openDatabase({ url: database.url, schema: "public", applicationName: "test", log: quiet });
    const rows = await db.many<{ place: string; target: number }>(sql`
      with personal as (
        select pg_attribute.attrelid as relation, pg_attribute.attname as name, pg_attribute.attstattarget as target
          from pg_description
          join pg_attribute on pg_attribute.attrelid = pg_description.objoid
                           and pg_attribute.attnum = pg_description.objsubid
         where pg_description.classoid = 'pg_class'::regclass
           and starts_with(pg_description.description, 'personal data'))
      select format('%s %s', personal.relation::regclass, personal.name) as place, coalesce(personal.target, -1) as target
        from personal
      union
      select format('%s %s', pg_index.indexrelid::regclass, part.attnum), coalesce(part.attstattarget, -1)
        from personal
        join pg_index on pg_index.indrelid = personal.relation
        join pg_attribute as part on part.attrelid = pg_index.indexrelid
       where pg_index.indkey[part.attnum - 1] = 0
         and pg_get_indexdef(pg_index.indexrelid, part.attnum, true) ~ ('\\m' || personal.name || '\\M')`);
    await db.close();
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter(({ target }) => target !== 0).map(({ place }) => place)).toEqual([]);
  } finally {
    await database.drop();
  }
});
