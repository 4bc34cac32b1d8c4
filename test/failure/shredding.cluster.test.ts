import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { diagnose } from "@tessera/cli/doctor/diagnose";
import { kafkaClient, resourceType, topicSetting } from "@tessera/engines/kafka/client";
import { kafkaBus } from "@tessera/engines/kafka/kafka";
import { moveSegments } from "@tessera/kit/bus/move-segments";
import { openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { recordFeed, topics } from "@tessera/protos/topics";
import { quiet } from "@tessera/testkit/engines/kafka-bed";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findTextsInDatabase, findTextsInFiles, findTextsInSegments } from "../e2e/find-texts.ts";
import { ofOrganizer } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { importOnce, importUntilAnswered } from "./import-until-answered.ts";
import { type MortalPostgres, startMortalPostgres } from "./mortal-postgres.ts";
import { report, withDice } from "./seeded.ts";
import { drawVictims, killAll } from "./shred-kills.ts";
import { guest, guestEvent, guestOrder, kinds, secretOf, shredClient, texts } from "./shred-traffic.ts";

const event = "wedding";
const size = { orders: 300, files: 10, vouchers: 40 } as const;
const scanned = { strangers: 15, answered: 12 } as const;
const otherKey = `other-key-${"o".repeat(54)}`;

let folder: string;
let kafka: KafkaEngine;
let postgres: MortalPostgres;
let cluster: FestivalCluster;
const lines: string[] = [];

const inFolder = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-shredding-"));
  await Promise.all(["files", "temporary"].map((name) => mkdir(inFolder(name))));
  // The browser runs as another user.
  await Promise.all([chmod(folder, 0o755), chmod(inFolder("temporary"), 0o777)]);
  [kafka, postgres] = await Promise.all([
    startKafka({ directory: inFolder("kafka"), settings: { "log.cleaner.backoff.ms": "200" } }),
    startMortalPostgres(),
  ]);
  const another = ofOrganizer("api_key", { token: otherKey, name: "another", permissions: ["*"], all_events: true });
  cluster = await startFestivalCluster({
    databaseUrl: postgres.url,
    kafkaBrokers: kafka.brokers,
    environment: { FILES_DIR: inFolder("files"), TMPDIR: inFolder("temporary"), LOG_LEVEL: "debug" },
    size: { tickets: 4, orders: 4 },
    records: [toLines([another]), guestEvent(event, size)].join("\n"),
    onLine: (line) => void lines.push(line),
  });
});

afterAll(async () => {
  await cluster?.remove();
  await Promise.all([kafka?.stop(), postgres?.remove()]);
  await rm(folder, { recursive: true, force: true });
});

it("[D6.3, D6.7, D10.1, D10.3] everything is killed while an event with 300 orders is exported and erased: all of it is counted once, and nothing is left", () =>
  withDice(async (dice) => {
    const client = shredClient(cluster, event);
    await visit(client);
    const before = await countData();
    // Otherwise the searches prove nothing.
    expect(missingIn(await searchTables())).toEqual([guest.file]);
    expect(missingIn(await searchRelations())).toEqual([guest.file]);
    expect(missingIn(await searchTopics())).toEqual(notOnTopics);
    expect(missingIn(await findTextsInFiles(inFolder("files"), texts))).not.toContain(guest.file);

    const mortals = { cluster, kafka, postgres };
    const victims = drawVictims(mortals, dice);
    const started = performance.now();
    const [exported] = await Promise.all([exportOnce(client), killAll(mortals, victims.splice(0, 5), dice)]);
    const exportedAfterMs = Math.round(performance.now() - started);
    const [{ ended, status }] = await Promise.all([
      client.startShred(exported).then(async (at) => ({ ended: await client.untilEnded(at), status: at })),
      killAll(mortals, victims, dice),
    ]);
    const erasedAfterMs = Math.round(performance.now() - started) - exportedAfterMs;
    expect(ended).toEqual({ status: 200, body: { status: "ok", message: "OK" } });

    expect(await searchTables()).toEqual([]);
    expect(await findTextsInFiles(inFolder("files"), texts)).toEqual([]);
    expect(await findTextsInFiles(inFolder("temporary"), texts)).toEqual([]);
    expect(texts.filter((text) => lines.some((line) => line.includes(text)))).toEqual([]);
    expect(await client.certified(status)).toEqual(before);
    await compactSoon();
    await expect.poll(searchTopics, { timeout: 100_000, interval: 500 }).toEqual([]);
    const relations = await measureRelations();
    report({ exportedAfterMs, erasedAfterMs, relations });
    expect(relations.rewritten).toEqual([]);
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
  }));

type Client = ReturnType<typeof shredClient>;

/** Lets visitors and devices do what leaves personal data. */
async function visit({ path, send, untilEnded }: Client): Promise<void> {
  const scan = async (secret: string, body: object) =>
    (await send(`${path}/checkinlists/1/positions/${encodeURIComponent(secret)}/redeem/`, { method: "POST", body }))
      .status;
  for (let number = 1; number <= scanned.strangers; number += 1)
    expect(await scan(`${guest.passport}${number}`, {})).toBe(404);
  for (let number = 1; number <= scanned.answered; number += 1)
    expect(await scan(secretOf(event, number), { answers: { 83: guest.gateAnswer } })).toBe(201);
  const parts = [{ orderposition: 1 }, { orderposition: 2 }];
  const printed = await send(`${path}/ticketpdfrenderer/render_batch/`, { method: "POST", body: { parts } });
  expect(await untilEnded(printed.body.download)).toMatchObject({ status: 200 });
  const bus = kafkaBus({ brokers: [kafka.brokers], clientId: "shop", topicPrefix: cluster.prefix, log: quiet });
  const { data, ...place } = guestOrder(event, 1);
  const [position] = data["positions"] as readonly object[];
  const bad = { ...place, data: { ...data, code: "NOITEM", positions: [{ ...position, id: 5000, item: 4711 }] } };
  await bus.publish(recordFeed.name, [
    { key: `${place.organizer}/${event}`, value: Buffer.from(JSON.stringify(bad)), headers: {} },
  ]);
  await bus.close();
  // What is on its way would count as a change.
  const arrived = async () =>
    cluster.db.one(sql`
      select (select count(*) from boxoffice.gate_answer) as answers, (select count(*) from gateway.dead_letter) as parked`);
  await expect.poll(arrived).toEqual({ answers: scanned.answered, parked: 1 });
}

/** What a certificate has to say: `service shredder holding`. */
async function countData(): Promise<Record<string, unknown>> {
  const { orders, files, vouchers } = size;
  const { words } = await cluster.db.one<{ words: number }>(sql`
    select count(scan.raw_code) as words
      from checkin.scan
     where scan.event = ${event}`);
  const printed = kinds.filter((kind) => kind !== "waiting_list");
  const shown = kinds.filter((kind) => kind !== "cachedtickets");
  return {
    "boxoffice attendee_info order.data": 6 * orders,
    "boxoffice order_emails order.data": 2 * orders,
    "boxoffice invoice_addresses order.data": orders,
    "boxoffice phone_numbers order.data": orders,
    "boxoffice question_answers order.data": orders,
    "boxoffice question_answers answer_file": files,
    "boxoffice question_answers gate_answer": scanned.answered,
    "checkin attendee_info scan.raw_code": words,
    "checkin question_answers given_answer.state": scanned.answered,
    "voucher waiting_list voucher.comment": vouchers,
    "gateway attendee_info dead_letter.payload": 1,
    ...Object.fromEntries(printed.map((kind) => [`layout-and-render ${kind} renders/`, 1])),
    // Answers to the requests for exports are among them.
    ...Object.fromEntries(shown.map((kind) => [`gateway ${kind} kept_answer.body`, expect.any(Number)])),
  };
}

/** Makes an export, again where a try ends because too much was dead. */
async function exportOnce({ makeExport }: Client) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await makeExport();
    } catch (error) {
      if (tries === 5 || !(error instanceof Error) || !error.message.includes(" 410 ")) throw error;
    }
  }
}

/** The texts that a search has not found. */
function missingIn(found: readonly string[]): string[] {
  return texts.filter((text) => !found.some((place) => place.includes(text)));
}

/** Fields that no fact has. */
const notOnTopics: readonly string[] = [guest.phone, guest.fileName, guest.passport, guest.file];

/** The ledger of this test has facts, too. */
const searchTables = async () =>
  (await findTextsInDatabase(postgres.url, texts)).filter((place) => !place.startsWith("ledger."));

/** The feed of records keeps what it got for some days. */
const searchTopics = () =>
  findTextsInSegments(inFolder("kafka"), texts, (topic) => !topic.includes(`.${recordFeed.name}-`));

/** Searches the files of tables and indexes. */
async function searchRelations(): Promise<string[]> {
  const { place } = await cluster.db.one<{ place: string }>(sql`
    select current_setting('data_directory') || '/base/' || pg_database.oid as place
      from pg_database
     where pg_database.datname = current_database()`);
  await cluster.db.run(sql`checkpoint`);
  return findTextsInFiles(place, texts);
}

/** The tables and indexes that hold something in their free space: as they are, after a vacuum, and after they were rewritten. */
async function measureRelations() {
  await cluster.db.run(sql`truncate ledger.written`);
  const left = async () => {
    const nodes = (await searchRelations()).map((place) => Number(/\/(\d+)[^/]*$/.exec(place)?.[1] ?? 0));
    const rows = await cluster.db.many<{ name: string }>(sql`
      select distinct coalesce(pg_filenode_relation(0, found.node::oid)::text, 'file ' || found.node) as name
        from unnest(${nodes}::bigint[]) as found (node)
       order by 1`);
    return rows.map(({ name }) => name);
  };
  const asItIs = await left();
  await cluster.db.run(sql`vacuum (index_cleanup on)`);
  const vacuumed = await left();
  await cluster.db.run(sql`vacuum full`);
  return { asItIs, vacuumed, rewritten: await left() };
}

/** Makes the broker compact within seconds what it would compact within a day, by the same setting. */
async function compactSoon(): Promise<void> {
  const owned = Object.values(topics).filter(({ personalData }) => Object.keys(personalData).length > 0);
  const client = kafkaClient({ brokers: [kafka.brokers], clientId: "test", log: quiet });
  await client.administer(30_000, async (admin) => {
    for (const { name } of owned) {
      const topic = { type: resourceType, name: `${cluster.prefix}${name}` };
      const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [topic] });
      const settings = new Map(
        (resources[0]?.configEntries ?? [])
          .filter(({ configSource }) => configSource === topicSetting)
          .map(({ configName, configValue }) => [configName, configValue]),
      );
      expect(settings.get("max.compaction.lag.ms")).toBe("86400000");
      settings.set("max.compaction.lag.ms", "1000");
      settings.set("file.delete.delay.ms", "100");
      const configEntries = Array.from(settings, ([key, value]) => ({ name: key, value }));
      await admin.alterConfigs({ validateOnly: false, resources: [{ ...topic, configEntries }] });
    }
  });
  await sleep(1200);
  for (const schema of ["boxoffice", "checkin", "voucher"]) {
    const db = openDatabase({ url: postgres.url, schema, applicationName: "test", log: quiet, maxConnections: 1 });
    const bus = {
      partitions: async (topic: string) => owned.find(({ name }) => name === topic)?.partitions ?? 0,
    };
    await moveSegments({ db, bus, owns: owned.filter(({ owner }) => owner === schema) }).run(
      new AbortController().signal,
    );
    await db.close();
  }
}

it("[D6.2, D6.7, D6.12] a service that is away for the whole case is waited for, and erases before it serves again", async () => {
  const away = "away";
  const { db, baseUrls } = cluster;
  await importUntilAnswered({ baseUrl: baseUrls[0], body: guestEvent(away, { orders: 3, files: 0, vouchers: 3 }) });
  const client = shredClient(cluster, away);
  const voucher = cluster.process("voucher-1");
  const exported = await client.makeExport();
  // Voucher closes the event; while this lasts, it cannot accept the request.
  const status = await db.transaction(async (tx) => {
    await tx.run(sql`lock table voucher.work in exclusive mode`);
    const started = await client.startShred(exported);
    const isRequested = () =>
      db.maybeOne(
        sql`select from shredder.shred_case where shred_case.event = ${away} and shred_case.requested_at is not null`,
      );
    await expect.poll(isRequested, { interval: 50 }).toBeDefined();
    await voucher.kill();
    return started;
  });
  const findDone = async () =>
    db.many<{ service: string }>(sql`
        select found.service
          from (select 'boxoffice' as service, event, done_at from boxoffice.erasure
                 union all select 'checkin', event, done_at from checkin.erasure
                 union all select 'gateway', event, done_at from gateway.erasure
                 union all select 'layout', event, done_at from layout.erasure
                 union all select 'voucher', event, done_at from voucher.erasure) as found
         where found.event = ${away} and found.done_at is not null
         order by found.service`);
  const others = ["boxoffice", "checkin", "gateway", "layout"].map((service) => ({ service }));
  await expect.poll(findDone, { interval: 200 }).toEqual(others);
  const { pathname } = new URL(status);
  expect((await client.send(pathname)).status).toBe(409);
  await db.run(
    sql`update shredder.work set enqueued_at = work.enqueued_at - interval '11 minutes' where work.state <> 'succeeded'`,
  );
  await expect.poll(findLate, { interval: 500 }).toMatch(/voucher does not answer/);

  const back = { isBack: false };
  const seen: string[] = [];
  const asking = (async () => {
    while (!back.isBack) {
      const answer = await fetch(`${baseUrls[0]}${client.path}/vouchers/`, {
        headers: { authorization: `Token ${apiKey}` },
      });
      seen.push(`${answer.status} ${await answer.text()}`);
      // Without a pause these questions would take the processor from the start that they wait for.
      await sleep(20);
    }
  })();
  await voucher.start();
  expect(await findDone()).toEqual([...others, { service: "voucher" }]);
  await expect.poll(() => seen.filter((answer) => answer.startsWith("200")).length).toBeGreaterThan(0);
  back.isBack = true;
  await asking;
  expect(seen.filter((answer) => answer.includes(guest.waiting))).toEqual([]);
  expect(await client.untilEnded(status)).toMatchObject({ status: 200 });
  // Jobs of voucher met the lock.
  cluster.loggedErrors();
});

/** What the doctor says of work of shredder that is late. */
async function findLate(): Promise<string> {
  const environment = { DATABASE_URL: cluster.databaseUrl };
  const found = await diagnose(
    { names: ["shredder"], environment, data: "/nonexistent", health: [] },
    { limitMs: 10_000 },
  );
  return JSON.stringify(found.filter(({ area }) => area === "work"));
}

/** In each round orders come, and two keys erase what each of them has exported. */
const rounds = 2;

it("[D2.3] two erasures and new orders at the same time: nothing is half erased, and no order is lost", () =>
  withDice(async (dice) => {
    const { db, baseUrls } = cluster;
    const ended: unknown[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const name = `race-${round}`;
      const count = 60;
      await importUntilAnswered({
        baseUrl: baseUrls[0],
        body: guestEvent(name, { orders: count, files: 1, vouchers: 2 }),
      });
      const clients = [apiKey, otherKey].map((key) => shredClient(cluster, name, key));
      const exported = await Promise.all(clients.map((client) => client.makeExport()));
      const isDisturbed = round % 2 === 0;
      const late = `LATE${round}`;
      const pauseMs = dice.below(250);
      const [imported, ...statuses] = await Promise.all([
        isDisturbed
          ? sleep(pauseMs).then(() => importOnce({ baseUrl: baseUrls[1], body: toLines([lateOrder(name, late)]) }))
          : undefined,
        ...clients.map(async (client, index) => {
          const started = exported[index];
          if (started === undefined) throw new Error("there is no export");
          return (await client.untilEnded(await client.startShred(started))).status;
        }),
      ]);
      const rows = await db.many<{ code: string; email: string | null; phone: string | null }>(sql`
          select "order".code, "order".data ->> 'email' as email, "order".data ->> 'phone' as phone
            from boxoffice."order"
           where "order".event = ${name}`);
      const isStored = imported !== undefined && "answer" in imported && imported.answer.accepted === 1;
      ended.push({ round, statuses, pauseMs, isDisturbed, isStored });
      const erased = statuses.filter((status) => status === 200).length;
      for (const status of statuses) expect([200, 417]).toContain(status);
      if (!isDisturbed) expect(erased).toBeGreaterThan(0);
      // An order that is stored is a change of the event, or has come behind its end.
      expect(rows.filter(({ code }) => code === late)).toHaveLength(isStored ? 1 : 0);
      expect(rows).toHaveLength(count + (isStored ? 1 : 0));
      const left = rows.filter(({ email, phone }) => email !== null || phone !== null);
      expect(left).toHaveLength(erased > 0 ? 0 : rows.length);
    }
    report({ ended });
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
  }));

const lateEmail = "late.visitor@buyers.example";

function lateOrder(event: string, code: string): unknown {
  const { data, ...place } = guestOrder(event, 900);
  return { ...place, data: { ...data, code, email: lateEmail } };
}
