import { migrateAll } from "@tessera/cli/migrate";
import { loadServices } from "@tessera/cli/services";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { printSchema } from "@tessera/testkit/print-schema";
import { expect, it } from "vitest";

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
