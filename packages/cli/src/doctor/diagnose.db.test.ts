import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { addWarnings } from "@tessera/gateway/store/record-warnings";
import { systemClock } from "@tessera/kit/clock";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { Level } from "@tessera/kit/service/finding";
import { createLog } from "@tessera/kit/telemetry/log";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { openServer } from "@tessera/testkit/database-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookAround } from "../configuration/surroundings.ts";
import { migrateAll } from "../migrate.ts";
import { diagnose } from "./diagnose.ts";
import { examineDatabase } from "./examine-database.ts";
import { findPlatformKey } from "./verify-certificate.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

function questionAbout(url: string, names: readonly string[] = ["all"]) {
  // No browser is started: printing is not examined here.
  const environment = { HTTP_PORT: "18439", DATABASE_URL: url, CHROMIUM_PATH: "/none" };
  return { names, environment, data: "/nonexistent", health: [] };
}

/** The findings about parts that live in the database. */
async function examine(url: string, { aheadMs = 0 } = {}) {
  const clock = { now: () => systemClock.now() + aheadMs * 1000 };
  const findings = await diagnose(questionAbout(url), { limitMs: 20_000, clock });
  const say = (area: string, ...levels: Level[]) =>
    findings
      .filter((each) => each.area === area && (levels.length === 0 || levels.includes(each.level)))
      .map(({ level, what }) => `${level}: ${what}`);
  return { findings, say };
}

describe("a database that is ready", () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let admin: Db;
  const opened: Db[] = [];
  const open = (options: { schema: string; role?: string; applicationName?: string }) => {
    const db = openDatabase({ url: database.url, applicationName: "test", log, ...options });
    opened.push(db);
    return db;
  };

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await migrateAll({ url: database.url, names: ["all"] });
    admin = open({ schema: "public" });
  });
  afterAll(async () => {
    await Promise.all(opened.map((db) => db.close()));
    await database.drop();
  });

  it("[D7.4] has the key of certificates, once one was made, and is named where it cannot be reached", async () => {
    expect(await findPlatformKey(questionAbout(database.url))).toEqual({
      missing: "the platform has certified nothing yet",
    });
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const shredder = open({ schema: "shredder" });
    const made = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await shredder.run(sql`insert into signing_key (private_key) values (${made})`);
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    expect(await findPlatformKey(questionAbout(database.url))).toEqual({ pem, from: "its database" });
    await shredder.run(sql`delete from signing_key`);
    const nowhere = questionAbout("postgres://nobody@127.0.0.1:1/none");
    expect(await findPlatformKey(nowhere)).toEqual({ missing: expect.stringMatching(/./) });
  });

  it("is well", async () => {
    const { say } = await examine(database.url);
    expect(say("database", "wrong", "warning")).toEqual([]);
    expect(say("database")[0]).toMatch(/^ok: PostgreSQL 1\d\.\d+ at /);
    expect(say("schemas")).toEqual([
      "ok: the schema of boxoffice is up to date",
      "ok: the schema of checkin is up to date",
      "ok: the schema of gateway is up to date",
      "ok: the schema of layout-and-render is up to date",
      "ok: the schema of offline-sales is up to date",
      "ok: the schema of shredder is up to date",
      "ok: the schema of voucher is up to date",
    ]);
    expect(say("facts")).toEqual([
      "ok: boxoffice has no late facts and no parked facts; no process of it is connected",
      "ok: checkin has no late facts and no parked facts; no process of it is connected",
      "ok: gateway has no late facts and no parked facts; no process of it is connected",
      "ok: layout-and-render has no late facts and no parked facts; no process of it is connected",
      "ok: offline-sales has no late facts and no parked facts; no process of it is connected",
      "ok: shredder has no late facts and no parked facts; no process of it is connected",
      "ok: voucher has no late facts and no parked facts; no process of it is connected",
    ]);
    expect(say("work")).toEqual([
      "ok: boxoffice has no late work",
      "ok: checkin has no late work",
      "ok: gateway has no late work",
      "ok: layout-and-render has no late work",
      "ok: offline-sales has no late work",
      "ok: shredder has no late work",
      "ok: voucher has no late work",
    ]);
    expect(say("clock")).toEqual([expect.stringMatching(/^ok: the database's clock and this one are \d+ ms apart$/)]);
  });

  it("[Y1.5] is reported if a credential has the operator key as its token", async () => {
    const gateway = open({ schema: "gateway" });
    const key = "of-the-operator-0123456789abcdef";
    const hash = createHash("sha256").update(key).digest();
    const question = questionAbout(database.url, ["gateway"]);
    const ask = async () => {
      const asked = { ...question, environment: { ...question.environment, OPERATOR_KEY: key } };
      const findings = await diagnose(asked, { limitMs: 20_000 });
      return findings.filter(({ what }) => what.includes("operator key"));
    };
    expect(await ask()).toEqual([]);
    await gateway.run(sql`
      insert into credential (organizer, kind, id, token_hash, name, permissions, all_events, events, active, revision)
      values ('mill', 'api_key', 'abc', ${hash}, 'shop', '{}', true, '{}', true, 1)`);
    expect(await ask()).toMatchObject([
      { level: "wrong", what: "the operator key is also the token of api_key abc of mill" },
    ]);
    await gateway.run(sql`delete from credential`);
  });

  it("is reported when nothing more can be written to its disk, and leaves no table behind", async () => {
    const before = await admin.many(sql`select oid from pg_class where relname like 'tessera_doctor%'`);
    await admin.run(sql`
      create function refuse_as_if_full() returns event_trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
    await admin.run(sql`
      create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function refuse_as_if_full()`);
    try {
      const { say } = await examine(database.url);
      expect(say("database", "wrong")).toEqual(["wrong: the database has no room left on its disk"]);
    } finally {
      await admin.run(sql`drop event trigger full_disk`);
    }
    expect((await examine(database.url)).say("database", "wrong")).toEqual([]);
    expect(await admin.many(sql`select oid from pg_class where relname like 'tessera_doctor%'`)).toEqual(before);
  });

  it("is compared with the clock here", async () => {
    expect((await examine(database.url, { aheadMs: 3000 })).say("clock")).toEqual([
      expect.stringMatching(/^warning: the clock of the database's machine is [23]\.\d seconds behind/),
    ]);
    expect((await examine(database.url, { aheadMs: -60_000 })).say("clock")).toEqual([
      expect.stringMatching(/^wrong: the clock of the database's machine is (?:60|59)\.\d seconds ahead of/),
    ]);
  });

  it("names a batch of tickets that is stuck, and why", async () => {
    const sales = open({ schema: "offline_sales", role: roleOf("offline_sales") });
    await sales.run(sql`
      insert into work (kind, id, owner, state, turn, due_at, most_tries, keep, payload, tries, cause, enqueued_at)
      values ('make batch', 'o/e/tried', 'o', 'waiting', null, now() + interval '1 minute', 9, '1 day', '', 7, 'boxoffice is away', now() - interval '20 minutes'),
             ('make batch', 'o/e/left', 'o', 'waiting', 1, null, 9, '1 day', '', 0, null, now() - interval '2 hours'),
             ('make batch', 'o/e/new', 'o', 'waiting', 2, null, 9, '1 day', '', 0, null, now())`);
    expect((await examine(database.url)).say("work", "wrong", "warning")).toEqual([
      'warning: "make batch" o/e/left of offline-sales is waiting for 2 hours',
      'wrong: "make batch" o/e/tried of offline-sales was tried 7 times in 20 minutes',
    ]);
    await sales.run(sql`delete from work`);
  });

  it("names events whose retention has been blocked for long, and why", async () => {
    expect((await examine(database.url)).say("retention")).toEqual([
      "ok: no event keeps personal data beyond its retention",
    ]);
    const shredder = open({ schema: "shredder", role: roleOf("shredder") });
    await shredder.run(
      sql`insert into retention (organizer, days, kinds, instance, organizer_created_at) values ('o', 90, '{order_emails}', '', now())`,
    );
    await shredder.run(sql`
      insert into announced_erasure (organizer, event, ended_at, announced_at, due_at, problem)
      values ('o', 'late', '2020-01-01', '2020-01-01', now() - interval '8 days', 'It is online.'),
             ('o', 'soon', '2020-01-01', '2020-01-01', now() - interval '6 days', 'It is online.'),
             ('o', 'next', '2020-01-01', '2020-01-01', now() - interval '8 days', null)`);
    const { say, findings } = await examine(database.url);
    expect(say("retention")).toEqual(["warning: event late of o should have been erased 8 days ago"]);
    expect(findings.find(({ area }) => area === "retention")).toMatchObject({ why: "It is online." });
    await shredder.run(sql`delete from retention`);
  });

  it("names the fields of records that had warnings", async () => {
    expect((await examine(database.url)).say("records")).toEqual(["ok: no record had warnings in the last 7 days"]);
    const gateway = open({ schema: "gateway" });
    await addWarnings(gateway, [{ kind: "order", field: "positions.tax_rate", count: 3 }]);
    await addWarnings(gateway, [{ kind: "order", field: "positions.tax_rate", count: 4 }]);
    expect((await examine(database.url)).say("records")).toEqual([
      "warning: 7 warnings about positions.tax_rate of order records, the last within 7 days",
    ]);
    await gateway.run(sql`delete from record_warning`);
  });

  it("names devices that are silent with scans to upload, behind, or short of battery", async () => {
    const none = ["ok: no device is silent with scans to upload, behind, or short of battery"];
    expect((await examine(database.url)).say("devices")).toEqual(none);
    const gateway = open({ schema: "gateway" });
    await gateway.run(sql`
      insert into credential (organizer, kind, id, revision, name, permissions, all_events, events, active, device)
      select 'o', 'device', number.id::text, 1, '', '{}', true, '{}', number.id < 8, '{"gate": 5}'
        from generate_series(1, 8) as number (id)`);
    await gateway.run(sql`
      insert into device_contact (organizer, device, seen_at, synced_at, queue, battery)
      values ('o', 1, now() - interval '20 minutes', null, 7, 5), ('o', 2, now() - interval '2 minutes', null, 3, 9),
             ('o', 3, now(), now() - interval '25 minutes', 0, 50), ('o', 4, now(), now(), 9, 50),
             ('o', 5, now() - interval '20 minutes', null, 0, 2), ('o', 6, now() - interval '20 hours', null, 7, 5),
             ('o', 8, now() - interval '20 minutes', null, 7, 5)`);
    expect((await examine(database.url)).say("devices")).toEqual([
      "warning: device 1 of o at gate 5 is silent for 20 minutes and has 7 scans to upload",
      "warning: device 2 of o at gate 5 has 9 % of its battery left",
      "warning: device 3 of o at gate 5 had all changes 25 minutes ago",
    ]);
    await gateway.run(sql`delete from credential`);
    await gateway.run(sql`delete from device_contact`);
  });

  it("reports facts that wait and those that are parked, with the command for them", async () => {
    const boxoffice = open({ schema: "boxoffice", role: roleOf("boxoffice") });
    await boxoffice.run(sql`
      insert into outbox (topic, key, created_at)
      select 'a.b.v1', 'k', now() - interval '2 hours' from generate_series(1, 3)`);
    await boxoffice.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, cause)
      select 'boxoffice c.d.v1', 'c.d.v1', 'Müller', gen_random_uuid(), now(), 'quoted: Müller' from generate_series(1, 2)`);
    const idle = await examine(database.url);
    expect(idle.say("facts", "wrong", "warning")).toEqual([
      "warning: the outbox of boxoffice holds 3 facts, the oldest for 2 hours",
      "wrong: boxoffice has parked 2 facts of c.d.v1",
    ]);
    expect(idle.findings.find(({ what }) => what.includes("has parked 2"))?.mend).toContain(
      "tessera topics parked --service boxoffice --topic c.d.v1",
    );
    expect(JSON.stringify(idle.findings)).not.toContain("Müller");

    const running = open({ schema: "boxoffice", applicationName: "tessera-boxoffice" });
    await running.one(sql`select 1 as alive`);
    expect((await examine(database.url)).say("facts", "wrong")[0]).toContain("holds 3 facts");
    await running.close();
    await boxoffice.run(sql`delete from outbox`);
    await boxoffice.run(sql`delete from dead_letter`);
  });

  it("names a table that belongs to another role, which a restoration without owners leaves behind", async () => {
    const { name: superuser } = await admin.one<{ name: string }>(sql`select current_user::text as name`);
    await admin.run(sql`alter table checkin.scan owner to current_user`);
    const { findings, say } = await examine(database.url);
    await admin.run(sql`alter table checkin.scan owner to tessera_checkin`);
    expect(say("schemas", "wrong")).toEqual([
      `wrong: scan of schema checkin belongs to ${superuser}, not to tessera_checkin`,
    ]);
    expect(findings.find(({ what }) => what.startsWith("scan of"))?.mend).toContain(
      "alter table checkin.scan owner to tessera_checkin",
    );
  });

  it("reports migrations that were changed or are missing", async () => {
    const checkin = open({ schema: "checkin", role: roleOf("checkin") });
    const gateway = open({ schema: "gateway", role: roleOf("gateway") });
    await checkin.run(sql`update migration set checksum = 'x' where scope = 'own' and revision = 1`);
    await gateway.run(sql`delete from migration where scope = 'kit' and revision = 2`);
    const { findings, say } = await examine(database.url);
    expect(say("schemas", "wrong")).toEqual([
      expect.stringMatching(/^wrong: migration 0001_\w+\.sql of schema checkin was changed after it was applied$/),
      expect.stringMatching(/^wrong: schema gateway lacks 0002_\w+\.sql$/),
    ]);
    expect(findings.filter(({ area }) => area === "schemas").map(({ mend }) => mend)).toEqual([
      undefined,
      "go back to the version that ran before, or, as a developer, restore the file and add a new one",
      "run `tessera migrate all`",
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(say("facts", "skipped")).toEqual(["skipped: the facts of checkin", "skipped: the facts of gateway"]);
  });

  it("reports transactions that stay open", async () => {
    const around = await lookAround(questionAbout(database.url), { clock: systemClock });
    const findings = await admin.transaction(async (tx) => {
      await tx.one(sql`select 1 as alive`);
      return examineDatabase(around, { longSeconds: 0 });
    });
    await around.database.close();
    expect(findings.filter(({ level }) => level !== "ok").map(({ level, what }) => `${level}: ${what}`)).toEqual([
      expect.stringMatching(
        /^warning: a transaction of process \d+ \(test\) has been open for \d+ seconds?, idle in transaction$/,
      ),
    ]);
  });
});

describe("a database that knows no letters beyond ASCII", () => {
  it("is slow to search", async () => {
    const empty = await createEmptyDatabase();
    const server = openServer(empty.url);
    const admin = openDatabase({ url: empty.url, schema: "public", applicationName: "test", log });
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    await admin.run(sql`create database ${identifier(name)} lc_ctype 'C' template template0`);
    const url = server.urlOf(name);
    const slow = openDatabase({ url, schema: "public", applicationName: "test", log });
    await slow.run(sql`create schema elsewhere`);
    await slow.run(sql`create extension pg_trgm with schema elsewhere`);
    await slow.close();
    const { findings, say } = await examine(url);
    await server.dropDatabase(name);
    await Promise.all([server.close(), admin.close()]);
    await empty.drop();
    expect(say("database", "wrong", "warning")).toEqual(["warning: searches in other scripts than Latin are slow"]);
    expect(findings.find(({ what }) => what.startsWith("searches"))?.mend).toContain("LC_CTYPE C.UTF-8");
  });
});

describe("a database that is not ready", () => {
  it("lacks what migrating makes", async () => {
    const empty = await createEmptyDatabase();
    const { findings, say } = await examine(empty.url);
    expect(say("database", "wrong")).toEqual(["wrong: the extension pg_trgm is not installed in this database"]);
    expect(say("schemas")).toHaveLength(7);
    expect(findings.find(({ area }) => area === "schemas")).toMatchObject({
      level: "wrong",
      what: expect.stringContaining("schema boxoffice is not there"),
      mend: "run `tessera migrate all` with an administrator's URL",
    });
    await empty.drop();
    expect((await examine(empty.url)).findings.find(({ area }) => area === "database")).toMatchObject({
      level: "wrong",
      why: "there is no such database (3D000)",
    });
  });
});
