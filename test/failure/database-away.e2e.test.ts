import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventPath, ofOrganizer } from "../e2e/sample-records.ts";
import { askForBatch, batchEvent, checkBatches, endLeases, untilEnded } from "./batch-traffic.ts";
import { type Callers, openCallers } from "./callers.ts";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { apiKey, planFestival, toLines } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, type Load, measure, recoveryMs, startLoad, untilScanned } from "./load.ts";
import { cutConnections, type MortalPostgres, startMortalPostgres } from "./mortal-postgres.ts";
import { createPlatform, findLoggedErrors, type Platform, type PlatformProcess, readLog } from "./platform-process.ts";
import type { Attempt } from "./scan-history.ts";
import { report, withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const freshKeys = Array.from({ length: 300 }, (_, index) => `fresh-key-${index}-${"f".repeat(40)}`);
const keysWhileFrozen = 100;
const slowKey = `slow-key-${"w".repeat(40)}`;
const rememberedKey = `remembered-key-${"r".repeat(40)}`;

let postgres: MortalPostgres;
let platform: Platform;
let life: PlatformProcess;
let db: Db;
/** Of all tests, which share a platform. */
const scans: Attempt[] = [];
const festival = planFestival({ tickets: 200, orders: 200 });

const undo: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  postgres = await startMortalPostgres();
  undo.push(() => postgres.remove());
  platform = await createPlatform({ databaseUrl: postgres.url, transport: "grpc" });
  undo.push(() => platform.remove());
  db = openAsAdministrator(postgres.url);
  undo.push(() => db.close());
  life = platform.start();
  await life.ready;
  await keepLedger(db);
  const keys = [...freshKeys, slowKey, rememberedKey].map((token) =>
    ofOrganizer("api_key", { token, name: "fresh", permissions: ["*"], all_events: true }),
  );
  await importUntilAnswered({
    baseUrl: platform.baseUrl,
    body: `${festival.groundwork}\n${toLines(keys)}\n${batchEvent}`,
  });
});
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** From the moment the database accepts connections again. */
async function recovered(load: Load, from: number): Promise<number> {
  await untilScanned(load.gates.attempts, from);
  return Math.round(recoveryMs(load.gates.attempts, from));
}

it("no request waits for a database that no longer answers", () =>
  withDice(async (dice) => {
    const { baseUrl } = platform;
    const load = startLoad({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: false });
    const callers = openCallers({ baseUrl, dice: dice.fork(), apiKey, freshKeys: freshKeys.slice(0, keysWhileFrozen) });
    await sleep(500 + dice.below(500));
    postgres.freeze();
    // This key is in no cache, so the platform has to read it from the database that does not answer.
    const asked = await timed(() => ask(baseUrl, slowKey));
    // Gates are answered meanwhile, too.
    await expect.poll(() => countOutcomes(load.gates.attempts)["unknown"] ?? 0).toBeGreaterThan(7);
    await expect.poll(() => callers.statuses["503"] ?? 0).toBeGreaterThan(2);
    postgres.thaw();
    const recoveryAfterMs = await recovered(load, performance.now());
    const [{ attempts, edition, oddities }] = await Promise.all([load.finish(), callers.close()]);
    report({ recoveryAfterMs, asked, ...measureCallers(callers) });
    scans.push(...attempts);
    expect(asked.value).toBe(503);
    expect([...oddities, ...callers.oddities]).toEqual([]);
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts: scans })).toEqual([]);
    expect(await findLoggedErrors(platform, { outage: true })).toEqual([]);
  }));

it("[O12.5, F1.5, F1.11, Y2.1] a platform whose database is away answers nothing wrong, makes a batch once, and tells gates every change", () =>
  withDice(async (dice) => {
    const { baseUrl } = platform;
    const load = startLoad({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: false, feedReaders: 2 });
    const callers = openCallers({ baseUrl, dice: dice.fork(), apiKey, freshKeys: freshKeys.slice(keysWhileFrozen) });
    const recoveries: Record<string, number> = {};
    const asked: string[] = [];
    for (const signal of ["SIGKILL", "SIGQUIT"] as const) {
      await sleep(500 + dice.below(500));
      asked.push(await askForBatch(baseUrl, { item: 1, amount: 2000 }));
      // Somewhere between the request and the batch.
      await sleep(dice.below(600));
      await postgres.die(signal);
      await sleep(1500);
      await postgres.comeBack();
      recoveries[signal] = await recovered(load, performance.now());
    }
    const cuts: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      await sleep(100 + dice.below(700));
      cuts.push(await cutConnections(db));
    }
    recoveries["cut"] = await recovered(load, performance.now());
    await endLeases(db);
    const ended = await Promise.all(asked.map((check) => untilEnded(db, check)));
    expect(ended.map(({ status }) => status)).toEqual([200, 200]);

    const [{ attempts, imports, edition, oddities }] = await Promise.all([load.finish(), callers.close()]);
    const { counts: answersOfFeed } = load.feed;
    report({ recoveries, cuts, answersOfFeed, ...measure({ attempts, imports }), ...measureCallers(callers) });
    scans.push(...attempts);
    expect([...oddities, ...callers.oddities]).toEqual([]);
    await expectNewsToTravel(baseUrl);
    const kept = await db.many<{ id: number }>(
      sql`select list.id from checkin.list where list.id = any(${callers.created}::bigint[])`,
    );
    expect(kept).toHaveLength(callers.created.length);
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts: scans })).toEqual([]);
    expect(await checkBatches({ db, baseUrl, ended })).toEqual([]);
    expect(await findLoggedErrors(platform, { outage: true })).toEqual([]);
    for (const kind of ["admitted", "already_redeemed", "unknown"])
      expect(countOutcomes(attempts)[kind]).toBeGreaterThan(10);
    expect(callers.statuses["503"]).toBeGreaterThan(10);
    // Of hundreds of failures, at most two lines for the freeze, for each death and for each cut.
    const about = (await readLog(platform)).filter(
      ({ message }) => message.includes("of the database") || message.includes("database is"),
    );
    expect(about.filter(({ message }) => message.startsWith("the database is away:")).length).toBeGreaterThan(0);
    expect(about.length).toBeLessThanOrEqual(18);
    expect(cuts.reduce((total, cut) => total + cut)).toBeGreaterThan(20);
    // The numbers of its last transactions are used again: each gate has to begin again after a crash.
    expect(answersOfFeed["begun again"]).toBeGreaterThanOrEqual(2);
    life.signal("SIGTERM");
    expect(await life.ended).toMatchObject({ code: 0, stderr: "" });
  }));

function measureCallers(callers: Callers): Record<string, unknown> {
  return { statuses: callers.statuses, slowestCallMs: Math.round(callers.slowestMs()) };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now();
  const value = await work();
  return { value, ms: performance.now() - started };
}

async function ask(baseUrl: string, key: string): Promise<number> {
  const response = await fetch(`${baseUrl}${eventPath}/checkinlists/1/`, {
    headers: { authorization: `Token ${key}` },
  });
  await response.arrayBuffer();
  return response.status;
}

/** A notice of another process arrives: the listening connection is restored, too. */
async function expectNewsToTravel(baseUrl: string) {
  expect(await ask(baseUrl, rememberedKey)).toBe(200);
  await db.transaction(async (tx) => {
    await tx.run(
      sql`update gateway.credential set active = false where token_hash = sha256(${rememberedKey}::text::bytea)`,
    );
    await tx.run(sql`select pg_notify('tessera_gateway_access', '')`);
  });
  await expect.poll(() => ask(baseUrl, rememberedKey), { timeout: 3000 }).toBe(401);
}
