import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { migrate } from "@tessera/kit/pg/migrate";
import { provision, roleOf } from "@tessera/kit/pg/provision";

const all = new URL("../../migrations/", import.meta.url);

/** Runs work on a schema as it was before a migration; `migrateOn` applies that and all behind it. */
export async function onSchemaBefore(
  revision: string,
  createDatabase: () => Promise<{ readonly url: string; drop(): Promise<void> }>,
  work: (db: Db, migrateOn: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { url, drop } = await createDatabase();
  const folder = await mkdtemp(join(tmpdir(), "migrations-"));
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const schema = { url, schema: "boxoffice", role: roleOf("boxoffice"), log };
  try {
    await provision({ url, schemas: ["boxoffice"] });
    await cp(all, folder, { recursive: true });
    for (const name of await readdir(folder)) if (name >= revision) await rm(join(folder, name));
    await migrate({ ...schema, migrations: pathToFileURL(`${folder}/`) });
    const db = openDatabase({ ...schema, applicationName: "test" });
    await work(db, async () => {
      await migrate({ ...schema, migrations: all });
    });
    await db.close();
  } finally {
    await rm(folder, { recursive: true });
    await drop();
  }
}
