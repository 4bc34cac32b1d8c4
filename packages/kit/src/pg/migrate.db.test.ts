import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { faultOf } from "@tessera/testkit/fault-of";
import { afterEach, describe, expect, it } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { type Db, openDatabase } from "./database.ts";
import { migrate, requireMigrated } from "./migrate.ts";
import { provision, roleOf } from "./provision.ts";
import { sql } from "./sql.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createEmptyDatabase();
  cleanUps.push(drop);
  return url;
}

/** A database with the schema `alpha`, and the way to look into it as an administrator. */
async function provisioned(): Promise<{ url: string; admin: Db }> {
  const url = await emptyDatabase();
  await provision({ url, schemas: ["alpha"] });
  const admin = openDatabase({ url, schema: "alpha", applicationName: "admin", log });
  cleanUps.push(() => admin.close());
  return { url, admin };
}

async function folder(files: Readonly<Record<string, string>>): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), "migrations-"));
  cleanUps.push(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return pathToFileURL(`${path}/`);
}

const optionsFor = (url: string, migrations: URL) => ({ url, schema: "alpha", role: roleOf("alpha"), migrations, log });

const two = { "0001_a.sql": "create table a (id integer);", "0002_b.sql": "create table b (id integer);" };

describe("migrate", () => {
  it("applies kit's files and then the service's, each once, as the service's role", async () => {
    const { url, admin } = await provisioned();
    const options = optionsFor(url, await folder(two));
    const applied = await migrate(options);
    expect(applied).toBeGreaterThan(2);
    expect(await migrate(options)).toBe(0);
    const rows = await admin.many<{ scope: string; name: string }>(
      sql`select scope, name from migration order by applied_at, revision`,
    );
    expect(rows).toHaveLength(applied);
    expect(rows[0]).toEqual({ scope: "kit", name: "0001_facts.sql" });
    expect(rows.slice(-2)).toEqual(Object.keys(two).map((name) => ({ scope: "own", name })));
    const owners = await admin.many<{ owner: string }>(
      sql`select distinct tableowner as owner from pg_tables where schemaname = 'alpha'`,
    );
    expect(owners).toEqual([{ owner: roleOf("alpha") }]);
    expect(await admin.many(sql`select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  it("applies what was added later, also below the newest", async () => {
    const { url, admin } = await provisioned();
    await migrate(optionsFor(url, await folder({ "0001_a.sql": two["0001_a.sql"], "0003_c.sql": "select 1" })));
    expect(await migrate(optionsFor(url, await folder({ ...two, "0003_c.sql": "select 1" })))).toBe(1);
    expect(await admin.many(sql`select id from b`)).toEqual([]);
  });

  it("may be run by twenty at once: every file is applied once", async () => {
    const { url, admin } = await provisioned();
    const options = optionsFor(
      url,
      await folder({
        "0001_count.sql": "create table applied (file text); insert into applied values ('1');",
        "0002_slow.sql": "insert into applied values ('2'); select pg_sleep(0.2);",
        // Waits for every transaction that began before it, those of waiting migrators too.
        "0003_index.sql": "--! no-transaction\ncreate index concurrently applied_file on applied (file)",
        "0004_last.sql": "insert into applied values ('4');",
      }),
    );
    const counts = await Promise.all(Array.from({ length: 20 }, () => migrate(options)));
    expect(counts.filter((count) => count > 0)).toHaveLength(1);
    expect(await admin.many(sql`select file from applied order by file`)).toEqual([
      { file: "1" },
      { file: "2" },
      { file: "4" },
    ]);
    expect(
      await admin.one(sql`select indisvalid as valid from pg_index where indexrelid = 'applied_file'::regclass`),
    ).toEqual({ valid: true });
  });

  it("carries on where a killed migrator stopped", async () => {
    const { url, admin } = await provisioned();
    const options = optionsFor(
      url,
      await folder({ ...two, "0003_slow.sql": "create table c (id integer); select pg_sleep(1);" }),
    );
    const killed = faultOf(migrate(options));
    const kill = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'tessera-migrate-alpha' and wait_event = 'PgSleep'`;
    for (let asked = 1; (await admin.run(kill)) === 0 && asked < 200; asked += 1) await sleep(10);
    expect(await killed).toMatchObject({ kind: "unavailable" });
    expect(await admin.one(sql`select to_regclass('c') is null as absent`)).toEqual({ absent: true });
    expect(await migrate(options)).toBe(1);
  });

  it("refuses a file that was changed after it was applied", async () => {
    const { url } = await provisioned();
    await migrate(optionsFor(url, await folder(two)));
    const changed = optionsFor(url, await folder({ ...two, "0001_a.sql": "create table a (id bigint);" }));
    const fault = { kind: "unmet", code: "migration_changed", message: expect.stringContaining("0001_a.sql") };
    expect(await faultOf(migrate(changed))).toMatchObject(fault);
    expect(await faultOf(requireMigrated(changed))).toMatchObject(fault);
  });

  it("refuses a schema with a breaking revision that it does not know, and tolerates others", async () => {
    const { url } = await provisioned();
    const old = optionsFor(url, await folder(two));
    await migrate(optionsFor(url, await folder({ ...two, "0003_more.sql": "create table c (id integer)" })));
    expect(await migrate(old)).toBe(0);
    await requireMigrated(old);
    const newest = {
      ...two,
      "0003_more.sql": "create table c (id integer)",
      "0004_gone.sql": "-- Why.\n--! breaking\ndrop table a",
    };
    await migrate(optionsFor(url, await folder(newest)));
    const fault = {
      kind: "unmet",
      code: "schema_too_new",
      message: "schema alpha has 0004_gone.sql, which this version cannot run with; run a newer version",
    };
    expect(await faultOf(migrate(old))).toMatchObject(fault);
    expect(await faultOf(requireMigrated(old))).toMatchObject(fault);
  });

  it("leaves nothing of a migration that fails, keeps those before it, and says which and why", async () => {
    const { url, admin } = await provisioned();
    const failing = {
      ...two,
      "0003_bad.sql": "create table c (id integer);\ninsert into c values (1);\nalter table missing add x integer;",
    };
    const fault = await faultOf(migrate(optionsFor(url, await folder(failing))));
    expect(fault).toMatchObject({
      kind: "unmet",
      code: "migration_failed",
      message:
        'migration 0003_bad.sql of schema alpha failed, nothing of it remains: relation "missing" does not exist (42P01)',
    });
    expect(await admin.many(sql`select name from migration where scope = 'own' order by revision`)).toEqual(
      Object.keys(two).map((name) => ({ name })),
    );
    expect(await admin.one(sql`select to_regclass('c') is null as absent`)).toEqual({ absent: true });
    expect(
      await migrate(optionsFor(url, await folder({ ...two, "0003_good.sql": "create table c (id integer)" }))),
    ).toBe(1);
  });

  it("does not repeat the data that a migration failed on", async () => {
    const { url } = await provisioned();
    const files = {
      "0001_person.sql":
        "create table person (name text constraint once unique); insert into person values ('Ada Lovelace');",
      "0002_number.sql": "insert into person values ('Ada Lovelace');",
    };
    const { message } = await faultOf(migrate(optionsFor(url, await folder(files))));
    expect(message).toMatch(/0002_number\.sql .*: 23505, table person, constraint once$/);
    const parsing = {
      "0001_person.sql": files["0001_person.sql"],
      "0002_cast.sql": "select name::integer from person",
    };
    expect((await faultOf(migrate(optionsFor(url, await folder(parsing))))).message).toMatch(/: 22P02$/);
  });

  it("gives up on a table in use instead of queueing everybody behind it", async () => {
    const { url, admin } = await provisioned();
    await migrate(optionsFor(url, await folder(two)));
    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = admin.transaction(async (tx) => {
      await tx.run(sql`lock table a in access share mode`);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const altering = optionsFor(url, await folder({ ...two, "0003_alter.sql": "alter table a add column x integer" }));
    expect(await faultOf(migrate(altering))).toMatchObject({
      code: "migration_failed",
      message: expect.stringContaining("55P03"),
    });
    release.resolve();
    await holder;
    expect(await migrate(altering)).toBe(1);
  });

  it("runs a file outside a transaction when its header says so, statement by statement", async () => {
    const { url, admin } = await provisioned();
    const text = `-- Why: sorting by b.
--! no-transaction
drop index concurrently if exists b_id;
--! next
create index concurrently b_id on b (id);
`;
    expect(await migrate(optionsFor(url, await folder({ ...two, "0003_index.sql": text })))).toBeGreaterThan(0);
    expect(await admin.one(sql`select to_regclass('b_id') is not null as present`)).toEqual({ present: true });
    const failing = {
      ...two,
      "0003_index.sql": text,
      "0004_bad.sql": "--! no-transaction\ncreate table c (id integer)\n--! next\nnonsense",
    };
    expect(await faultOf(migrate(optionsFor(url, await folder(failing))))).toMatchObject({
      message: expect.stringContaining("what it did before the failure remains"),
    });
    const repeatable = {
      ...two,
      "0003_index.sql": text,
      "0004_bad.sql": "--! no-transaction\ncreate table if not exists c (id integer)",
    };
    expect(await migrate(optionsFor(url, await folder(repeatable)))).toBe(1);
  });

  it.each([
    ["without a number", { "create.sql": "" }, "create.sql"],
    ["with a number of another length", { "12_a.sql": "" }, "12_a.sql"],
    ["with another's number", { "0001_a.sql": "", "0001_b.sql": "" }, "0001_b.sql"],
  ])("refuses files %s", async (_name, files, named) => {
    const { url } = await provisioned();
    await expect(migrate(optionsFor(url, await folder(files)))).rejects.toThrow(named);
  });

  it("touches no other schema where its own is missing", async () => {
    const url = await emptyDatabase();
    const missing = {
      kind: "unmet",
      code: "schema_missing",
      message: expect.stringContaining("tessera migrate all"),
    };
    const options = optionsFor(url, await folder(two));
    expect(await faultOf(migrate(options))).toMatchObject(missing);
    expect(await faultOf(migrate({ url, schema: "alpha", migrations: options.migrations, log }))).toMatchObject(
      missing,
    );
    expect(await faultOf(requireMigrated(options))).toMatchObject(missing);
    const admin = openDatabase({ url, schema: "public", applicationName: "admin", log });
    cleanUps.push(() => admin.close());
    expect(await admin.one(sql`select to_regclass('public.migration') is null as absent`)).toEqual({ absent: true });
  });

  it("reports a server that is not there as unavailable", async () => {
    const options = optionsFor("postgresql://postgres@127.0.0.1:1/postgres?sslmode=disable", await folder(two));
    const attempts = [migrate(options), requireMigrated(options), provision({ url: options.url, schemas: [] })];
    for (const fault of await Promise.all(attempts.map(faultOf))) expect(fault).toMatchObject({ kind: "unavailable" });
  });
});

describe("requireMigrated", () => {
  it("is content with a migrated schema", async () => {
    const { url } = await provisioned();
    const options = optionsFor(url, await folder(two));
    await migrate(options);
    await expect(requireMigrated(options)).resolves.toBeUndefined();
  });

  it("names what is missing and what to run", async () => {
    const { url } = await provisioned();
    const { "0001_a.sql": first } = two;
    expect(await faultOf(requireMigrated(optionsFor(url, await folder(two))))).toMatchObject({
      kind: "unmet",
      code: "schema_too_old",
      message: expect.stringMatching(
        /^schema alpha lacks 0001_facts\.sql, .*0001_a\.sql, 0002_b\.sql; run `tessera migrate all`$/,
      ),
    });
    await migrate(optionsFor(url, await folder({ "0001_a.sql": first })));
    expect((await faultOf(requireMigrated(optionsFor(url, await folder(two))))).message).toBe(
      "schema alpha lacks 0002_b.sql; run `tessera migrate all`",
    );
  });
});

describe("provision", () => {
  const schemas = ["alpha", "beta", "gamma", "delta"];

  it("may be run twenty times at once on several databases, for roles that none of them has yet", async () => {
    const urls = await Promise.all([1, 2, 3, 4].map(emptyDatabase));
    const fresh = schemas.map((schema) => `${schema}_${process.hrtime.bigint()}`);
    const orders = [fresh, fresh.toReversed()];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        provision({ url: urls[index % urls.length] ?? "", schemas: orders[index % 2] ?? [] }),
      ),
    );
    for (const url of urls) {
      for (const schema of fresh) {
        const db = openDatabase({ url, schema, role: roleOf(schema), applicationName: "test", log });
        cleanUps.push(() => db.close());
        await db.run(sql`create table mine (id integer)`);
        expect(await db.many(sql`select id from mine`)).toEqual([]);
      }
    }
  });

  it("serves an administrator who may create roles and schemas but is no superuser", async () => {
    const { url, user, admin } = await modestAdministrator();
    const schema = `modest_${process.hrtime.bigint()}`;
    await provision({ url, schemas: [schema] });
    await provision({ url, schemas: [schema] });
    await migrate({ url, schema, role: roleOf(schema), migrations: await folder(two), log });
    const rows = await admin.many(sql`
      select nspname as schema, pg_get_userbyid(nspowner) as owner from pg_namespace where nspname = ${schema}`);
    expect(rows).toEqual([{ schema, owner: roleOf(schema) }]);
    expect(user).not.toBe("postgres");
  });

  it("gives a schema to its role alone", async () => {
    const url = await emptyDatabase();
    await provision({ url, schemas });
    const admin = openDatabase({ url, schema: "public", applicationName: "admin", log });
    cleanUps.push(() => admin.close());
    const rows = await admin.many<{ role: string; schema: string }>(sql`
      select role, schema
        from unnest(${schemas}::text[]) as schema, unnest(${schemas.map(roleOf)}::text[]) as role
       where has_schema_privilege(role, schema, 'usage') or has_schema_privilege(role, schema, 'create')
       order by array_position(${schemas}::text[], schema)`);
    expect(rows).toEqual(schemas.map((schema) => ({ role: roleOf(schema), schema })));
  });
});

/** An administrator as clouds hand them out, of a database of its own. */
async function modestAdministrator(): Promise<{ url: string; user: string; admin: Db }> {
  const owned = await emptyDatabase();
  const admin = openDatabase({ url: owned, schema: "public", applicationName: "admin", log });
  const user = `modest_${process.hrtime.bigint()}`;
  await admin.run({ text: `create role ${user} login password 'secret' createrole`, values: [] });
  const { name } = await admin.one<{ name: string }>(sql`select current_database() as name`);
  await admin.run({ text: `alter database ${name} owner to ${user}`, values: [] });
  cleanUps.push(() => admin.close());
  return { url: owned.replace(/\/\/[^@]*@/, `//${user}:secret@`), user, admin };
}
