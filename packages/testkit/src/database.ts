import { createHash, randomUUID } from "node:crypto";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { migrate } from "@tessera/kit/pg/migrate";
import { provision, roleOf } from "@tessera/kit/pg/provision";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, inject } from "vitest";
import { openServer } from "./database-server.ts";

/** A schema and the folder of its migrations. */
export interface TestSchema {
  readonly schema: string;
  readonly migrations: URL;
}

export interface TestDatabase {
  readonly url: string;
  /** Opens a pool as the service that owns the schema. */
  open(schema: string, options?: { maxConnections?: number }): Db;
  /** Closes all pools and deletes the database. */
  drop(): Promise<void>;
}

const quiet = createLog({ service: "test", destination: { write: () => {} } });

/** Makes a new, migrated database. Each set of schemas is migrated once, as a template; the databases are copies of it. */
export async function createTestDatabase(schemas: readonly TestSchema[]): Promise<TestDatabase> {
  const server = openServer(inject("postgresUrl"));
  try {
    const template = await server.exclusively(() => ensureTemplate(server, schemas));
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    await server.createDatabase(name, { template });
    return testDatabase({ name, url: server.urlOf(name), schemas });
  } finally {
    await server.close();
  }
}

/** Makes the database of a file of tests, with one schema, and deletes it after them. */
export async function databaseOfFile(
  schema: string,
  migrations: URL,
): Promise<{ readonly database: TestDatabase; readonly db: Db }> {
  const database = await createTestDatabase([{ schema, migrations }]);
  afterAll(() => database.drop());
  return { database, db: database.open(schema) };
}

/** Makes an empty database, for tests that provision and migrate by themselves. */
export async function createEmptyDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = openServer(inject("postgresUrl"));
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  try {
    await server.createDatabase(name);
    return { url: server.urlOf(name), drop: () => dropDatabase(name) };
  } finally {
    await server.close();
  }
}

async function dropDatabase(name: string): Promise<void> {
  const server = openServer(inject("postgresUrl"));
  try {
    await server.dropDatabase(name);
  } finally {
    await server.close();
  }
}

async function ensureTemplate(server: ReturnType<typeof openServer>, schemas: readonly TestSchema[]): Promise<string> {
  const names = schemas.map(({ schema, migrations }) => `${schema} ${migrations.href}`).join("\n");
  const template = `template_${createHash("sha256").update(names).digest("hex").slice(0, 16)}`;
  if (await server.hasDatabase(template)) return template;
  // Migrated under another name first, so that an existing template is complete.
  const draft = `${template}_draft`;
  await server.dropDatabase(draft);
  await server.createDatabase(draft);
  const url = server.urlOf(draft);
  await provision({ url, schemas: schemas.map(({ schema }) => schema) });
  for (const { schema, migrations } of schemas)
    await migrate({ url, schema, role: roleOf(schema), migrations, log: quiet });
  await server.renameDatabase(draft, template);
  return template;
}

function testDatabase({
  name,
  url,
  schemas,
}: {
  name: string;
  url: string;
  schemas: readonly TestSchema[];
}): TestDatabase {
  const opened: Db[] = [];
  return {
    url,
    open(schema, options = {}) {
      if (!schemas.some((known) => known.schema === schema))
        throw new Error(`the test database has no schema ${schema}`);
      const db = openDatabase({
        url,
        schema,
        role: roleOf(schema),
        applicationName: `test-${schema}`,
        log: quiet,
        ...options,
      });
      opened.push(db);
      return db;
    },
    async drop() {
      await Promise.all(opened.map((db) => db.close()));
      await dropDatabase(name);
    },
  };
}
