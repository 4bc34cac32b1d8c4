import { setTimeout as sleep } from "node:timers/promises";
import { diagnose } from "@tessera/cli/doctor/diagnose";
import type { ClusterProcess } from "@tessera/dev/cluster/start-process";
import { sql } from "@tessera/kit/pg/sql";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { findUncertain, isCutByStop, longestSilenceMs, type Span, type Stop, slowestScanMs } from "./availability.ts";
import { killDuring, steps } from "./batch-kills.ts";
import { batchEvent, checkBatches, compareBatches, type EndedBatch, endLeases } from "./batch-traffic.ts";
import { checkFacts } from "./check-facts.ts";
import { checkVouchers } from "./check-vouchers.ts";
import { readLedger, readParked, waitForEmptyOutboxes } from "./fact-ledger.ts";
import { lists } from "./festival.ts";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { fillQuotas } from "./fill-quotas.ts";
import { sendScan } from "./gates.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, measure, recoveryMs, untilScanned } from "./load.ts";
import { pulseRecord } from "./pulse.ts";
import { startQuotaSales } from "./quota-sales.ts";
import { drawNonces, scanAtOnce } from "./scan-at-once.ts";
import { type Attempt, toCourses } from "./scan-history.ts";
import { isLong, report, shuffle, withDice } from "./seeded.ts";
import { event, judgePlaces, readPlaces, sharedEvent } from "./shared-quotas.ts";
import { startVoucherTraffic } from "./voucher-traffic.ts";
import { watchQuotas } from "./watch-quotas.ts";

let cluster: FestivalCluster;

/** How long a stopping pod accepts requests, while balancers learn of it. */
const shutdownDelayMs = 500;

/** Gates do not call these. */
const unseenByGates = ["layout-and-render", "offline-sales", "shredder", "voucher"];

beforeAll(async () => {
  cluster = await startFestivalCluster({
    environment: { SHUTDOWN_DELAY: `${shutdownDelayMs}ms` },
    // Imports follow each other all the while; a short one ends soon after the last process is back.
    size: { tickets: 300, orders: 200 },
  });
});

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await cluster?.endLoads();
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(() => cluster?.remove());

it("[C3.38] one of several simultaneous scans over all gateways and check-ins is admitted, and one nonce is one scan", () =>
  withDice(async (dice) => {
    const { baseUrls, festival, attempts, db } = cluster;
    const slowest: number[] = [];
    for (const ticket of festival.spare.slice(0, 10)) {
      const scans = await scanAtOnce({ baseUrls, ticket, nonces: drawNonces(dice, 20) });
      attempts.push(...scans);
      slowest.push(Math.round(Math.max(...scans.map(({ invokedAt, endedAt }) => endedAt - invokedAt))));
      expect(countOutcomes(scans)).toEqual({ admitted: 1, already_redeemed: 19 });
    }
    for (const ticket of festival.spare.slice(10, 15)) {
      const [nonce = ""] = drawNonces(dice, 1);
      const repeated = await scanAtOnce({ baseUrls, ticket, nonces: Array.from({ length: 50 }, () => nonce) });
      attempts.push(...repeated);
      expect(countOutcomes(repeated)).toEqual({ admitted: 50 });
      expect(await db.many(sql`select scan.id from checkin.scan where scan.nonce = ${nonce}`)).toHaveLength(1);
    }
    report({ slowestOfTwentyMs: slowest });
  }));

/** How many outcomes gates learn while one of two is dead, and a process that they do not need. */
const scansMeanwhile = 60;

/** How long all check-ins stay down. */
const deadMs = 1500;

it("[F1.5, F1.8] each kind of process is killed: no scan is lost, untold or admitted twice", () =>
  withDice(async (dice) => {
    const { baseUrls } = cluster;
    const load = cluster.startLoad(dice, { connectionsMayBreak: true, feedReaders: 3 });
    const { attempts } = load.gates;
    const measured: Measured[] = [];
    const alone = ["boxoffice-1", dice.pick(["checkin-1", "checkin-2"]), dice.pick(["gateway-1", "gateway-2"])];
    const everyCheckin = ["checkin-1", "checkin-2"];
    const kills = [...(isLong ? alone.map((name) => [name]) : [alone]), everyCheckin];
    for (const [round, names] of kills.entries()) {
      await sleep(500 + dice.below(1000));
      const killed = names.map((name) => cluster.process(name));
      const from = performance.now();
      await Promise.all(killed.map((process) => process.kill()));
      const deadAt = performance.now();
      if (names === everyCheckin) await sleep(deadMs);
      else await untilScanned(attempts, deadAt, scansMeanwhile);
      const againAt = performance.now();
      await Promise.all(killed.map((process) => process.start()));
      const readyAt = performance.now();
      await untilScanned(attempts, readyAt);
      const to = performance.now();
      const pulse = await importUntilAnswered({
        baseUrl: baseUrls[round % 2] ?? "",
        body: pulseRecord(`round ${round}`),
      });
      measured.push({
        killed: names.join(" and "),
        restartMs: Math.round(readyAt - againAt),
        longestSilenceMs: longestSilenceMs(attempts, { from, to }),
        span: { from, to },
        recoveryMs: Math.round(recoveryMs(attempts, readyAt)),
        settledAfterMs: Math.round(pulse.ms),
      });
    }
    const { edition, oddities, imports, attempts: ofGates } = await load.finish();
    const { counts: answersOfFeed } = load.feed;
    report({ measured: withSlowest(measured, ofGates), answersOfFeed, ...measure({ attempts: ofGates, imports }) });
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
    for (const ending of ["ended", "cut", "refused"] as const) expect(answersOfFeed[ending]).toBeGreaterThan(5);
    expect(answersOfFeed["begun again"]).toBe(0);
    const outcomes = countOutcomes(ofGates);
    for (const kind of ["admitted", "already_redeemed"]) expect(outcomes[kind]).toBeGreaterThan(50);
    expect((outcomes["unknown"] ?? 0) + (outcomes["not_done"] ?? 0)).toBeGreaterThan(5);
  }));

interface Measured extends Readonly<Record<string, unknown>> {
  readonly span: Span;
}

/** Adds how long the slowest scan of each span took; they are all answered now. */
function withSlowest(measured: readonly Measured[], attempts: readonly Attempt[]): Record<string, unknown>[] {
  return measured.map(({ span, ...rest }) => ({ ...rest, slowestScanMs: slowestScanMs(attempts, span) }));
}

it("everything is stopped in order and started again, what gates need one after the other, and no scan fails", () =>
  withDice(async (dice) => {
    // So many, and so fast while a process stops, that connections are always about to carry the next scan.
    const count = 16;
    const stoppingMs = 5;
    // While one starts they leave it a part of the processors.
    const startingMs = 240;
    let pauseMs = startingMs;
    const load = cluster.startLoad(dice, { connectionsMayBreak: true, count, longestPauseMs: () => pauseMs });
    const { attempts } = load.gates;
    await untilScanned(attempts, performance.now(), 2 * count);
    const from = performance.now();
    const measured: Measured[] = [];
    const stops: Stop[] = [];
    const restart = async (together: readonly ClusterProcess[]) => {
      const stoppedFrom = performance.now();
      const gone = await Promise.all(together.map((process) => process.stop().then(() => performance.now())));
      pauseMs = startingMs;
      await Promise.all(
        together.map(async (process, index) => {
          const startedFrom = performance.now();
          await process.start();
          const to = performance.now();
          measured.push({
            process: process.plan.name,
            stopMs: Math.round((gone[index] ?? to) - stoppedFrom),
            startMs: Math.round(to - startedFrom),
            longestSilenceMs: longestSilenceMs(attempts, { from: stoppedFrom, to }),
            span: { from: stoppedFrom, to },
          });
          const { http } = process.plan.ports;
          if (http !== undefined) stops.push({ baseUrl: `http://127.0.0.1:${http}`, from: stoppedFrom, to });
        }),
      );
    };
    const unseen = cluster.processes.filter(({ plan }) => unseenByGates.includes(plan.service));
    const seen = cluster.processes.filter((process) => !unseen.includes(process));
    expect(unseen).toHaveLength(unseenByGates.length);
    for (const process of seen) {
      pauseMs = stoppingMs;
      await sleep(300);
      await restart([process]);
    }
    await restart(unseen);
    await sleep(300);
    const { edition, oddities, imports, attempts: ofGates } = await load.finish();
    const cut = ofGates.filter((attempt) => isCutByStop(attempt, stops));
    report({ measured: withSlowest(measured, ofGates), cut, ...measure({ attempts: ofGates, imports }) });
    const others = ofGates.filter((attempt) => !cut.includes(attempt));
    expect(findUncertain(others, { from, to: performance.now() })).toEqual([]);
    // A process that closed its connections would cut off most gates; all of them learn the outcome of their scan by a retry.
    expect(cut.length).toBeLessThan(count / 2);
    const nonces = new Set(cut.map(({ scan }) => scan.nonce));
    const courses = toCourses(ofGates).filter(({ scan }) => nonces.has(scan.nonce));
    expect(courses.filter(({ known }) => known === undefined)).toEqual([]);
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(cluster.loggedErrors()).toEqual([]);
    expect(countOutcomes(ofGates)["admitted"]).toBeGreaterThan(50);
  }));

/** How many outcomes gates learn while one of two is frozen: they come when that is detected, and the other one gets all calls. */
const scansWhileFrozen = 30;

it("one of two check-ins freezes: gates continue with the other one", () =>
  withDice(async (dice) => {
    const load = cluster.startLoad(dice, { connectionsMayBreak: true });
    await untilScanned(load.gates.attempts, performance.now(), scansMeanwhile);
    const frozen = cluster.process(dice.pick(["checkin-1", "checkin-2"]));
    frozen.signal("SIGSTOP");
    const from = performance.now();
    await untilScanned(load.gates.attempts, from, scansWhileFrozen);
    const to = performance.now();
    frozen.signal("SIGCONT");
    const { edition, oddities, imports, attempts } = await load.finish();
    const meanwhile = countOutcomes(attempts.filter(({ invokedAt }) => invokedAt > from && invokedAt < to));
    report({
      longestSilenceMs: longestSilenceMs(attempts, { from, to }),
      slowestScanMs: slowestScanMs(attempts, { from, to }),
      meanwhile,
      ...measure({ attempts, imports }),
    });
    // Either is decided by the other check-in.
    expect((meanwhile["admitted"] ?? 0) + (meanwhile["already_redeemed"] ?? 0)).toBeGreaterThan(15);
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
  }));

/** Longer than scanners wait for an answer in this test. */
const scannerMs = 1500;

it("[C3.48] a gateway that was frozen sends no scan whose scanner has gone", () =>
  withDice(async (dice) => {
    const { baseUrls, festival, db, attempts } = cluster;
    const [frozenUrl, otherUrl] = baseUrls;
    const frozen = cluster.process("gateway-1");
    undo.push(async () => frozen.signal("SIGCONT"));
    const list = lists.again.id;
    const tickets = festival.spare.slice(15);
    const nonces = drawNonces(dice, tickets.length);
    /** Has each ticket scanned once, at the same moment. */
    const scanAll = (baseUrl: string, type: "entry" | "exit", names: readonly string[], withinMs?: number) =>
      Promise.all(
        tickets.map(async (ticket, index): Promise<Attempt> => {
          const nonce = names[index] ?? "";
          const scan = { gate: 200 + index, nonce, list, position: ticket.position, type };
          const invokedAt = performance.now();
          const { outcome } = await sendScan({ baseUrl, scan, ticket, ...(withinMs && { withinMs }) });
          const attempt = { scan, invokedAt, endedAt: performance.now(), outcome };
          attempts.push(attempt);
          return attempt;
        }),
      );
    const entered = await scanAll(otherUrl, "entry", drawNonces(dice, tickets.length));
    frozen.signal("SIGSTOP");
    const givenUp = await scanAll(frozenUrl, "entry", nonces, scannerMs);
    const refused = await scanAll(otherUrl, "entry", nonces);
    const left = await scanAll(otherUrl, "exit", drawNonces(dice, tickets.length));
    frozen.signal("SIGCONT");
    expect([entered, givenUp, refused, left].map(countOutcomes)).toEqual([
      { admitted: tickets.length },
      { unknown: tickets.length },
      { already_redeemed: tickets.length },
      { admitted: tickets.length },
    ]);
    // What waited for the frozen process is read before this scan.
    await scanAll(frozenUrl, "exit", drawNonces(dice, tickets.length));
    const late = await db.many(sql`
      select scan.id from checkin.scan where scan.successful and scan.nonce = any(${nonces}::text[])`);
    expect(late).toEqual([]);
  }));

/** Together they take longer than a dead consumer's partitions to go to its successor. */
const ends: readonly { readonly how: "kill" | "stop"; readonly names: readonly string[] }[] = [
  { how: "stop", names: ["voucher-1"] },
  { how: "kill", names: ["voucher-1", "offline-sales-1"] },
  { how: "kill", names: ["boxoffice-1"] },
  { how: "kill", names: ["voucher-1", "boxoffice-1"] },
];
const shortestDeathMs = 200;

/** What comes to rest may take as long as it likes on a busy machine; this only ends a test that hangs. */
const longestRestMs = 300_000;
const changes = ["POST done", "PATCH done", "DELETE done"];

it(
  "[V4.13, V4.16, V4.18, V6.3, O2.6, O12.4, O12.5] what sells is killed while vouchers, records and batches take the same quotas",
  { timeout: 900_000 },
  () =>
    withDice(async (dice) => {
      const { baseUrls, db } = cluster;
      const [baseUrl] = baseUrls;
      await importUntilAnswered({ baseUrl, body: sharedEvent });
      const traffic = startVoucherTraffic({ baseUrls, dice, clients: 12, shops: 3 });
      undo.push(() => traffic.close());
      const sales = startQuotaSales({ baseUrls, dice, db, clients: 3 });
      undo.push(() => sales.close());
      const watch = watchQuotas(db, traffic.told);
      undo.push(() => watch.close());
      const kills: string[] = [];
      const doctored: string[] = [];
      const isEnough = () =>
        changes.every((name) => (traffic.outcomes[name] ?? 0) > 3) &&
        (traffic.outcomes["reserved"] ?? 0) > 3 &&
        Object.values(sales.outcomes).every((count) => count > 3);
      const oddities = () => [...traffic.oddities, ...sales.oddities, ...watch.found];
      for (const { how, names } of shuffle(ends, dice).slice(0, isLong ? ends.length : 3)) {
        if (oddities().length > 0) break;
        await sleep(500 + dice.below(1500));
        const ended = names.map((name) => cluster.process(name));
        await Promise.all(ended.map((process) => process[how]()));
        await sleep(shortestDeathMs + dice.below(800));
        if (names.includes("offline-sales-1")) await endLeases(db);
        await Promise.all(ended.map((process) => process.start()));
        kills.push(`${how} ${names.join(" and ")}`);
        // What differs while facts are on their way is no finding, nor is an examination that a busy machine does not complete.
        const found = kills.length % 3 === 0 ? await findUnequal({ limitMs: 4000 }) : [];
        doctored.push(...found.filter((finding) => !finding.endsWith("was not completed")));
      }
      // A busy machine gets less done beside the kills.
      while (!isEnough() && oddities().length === 0) await sleep(200);
      await Promise.all([traffic.close(), sales.close()]);
      await watch.close();
      const settled = await importUntilAnswered({
        baseUrl,
        body: pulseRecord("after the sales"),
      });
      // A job gives back after a minute what a killed request has left.
      await db.run(sql`update voucher.asked_hold set asked_at = asked_at - interval '2 minutes'`);
      const check = () => checkVouchers({ db, baseUrl, told: traffic.told });
      await expect.poll(check, { timeout: longestRestMs, interval: 1000 }).toEqual([]);
      const waiting = await waitForEmptyOutboxes(db, longestRestMs);
      const { outcomes, told } = traffic;
      report({
        ...{ kills, outcomes, sales: sales.outcomes, told: told.length, seen: watch.seen },
        settledAfterMs: Math.round(settled.ms),
      });
      doctored.push(...(await findUnequal({ limitMs: 40_000 })));
      expect(oddities()).toEqual([]);
      expect(doctored).toEqual([]);
      expect((await compareBatches(db, { event, ended: sales.ended })).found).toEqual([]);
      expect(judgePlaces(await readPlaces(db), { standing: 0 })).toEqual([]);
      expect(await fillQuotas({ db, baseUrl })).toEqual([]);
      expect(checkFacts(await readLedger(db, { waiting }))).toEqual([]);
      expect(await readParked(db)).toEqual([]);
      expect(cluster.loggedErrors({ outage: true })).toEqual([]);
      // Otherwise the test proves nothing.
      expect(outcomes["POST refused"]).toBeGreaterThan(0);
      expect(watch.seen.moments).toBeGreaterThan(20);
      expect(watch.seen.places).toBeGreaterThan(200);
    }),
);

it("[O1.4, O12.5] each step of a batch is killed, and the batch is made once", { timeout: 170_000 }, async () => {
  const { baseUrls, db } = cluster;
  await importUntilAnswered({ baseUrl: baseUrls[0], body: batchEvent });
  const ended: EndedBatch[] = [];
  for (const step of steps) {
    const batch = await killDuring(step, cluster);
    expect([step.name, batch.status]).toEqual([step.name, 200]);
    ended.push(batch);
    expect([step.name, ...(await checkBatches({ db, baseUrl: baseUrls[1], ended }))]).toEqual([step.name]);
  }
  expect(cluster.loggedErrors({ outage: true })).toEqual([]);
});

/** Has the doctor compare what voucher and boxoffice keep of the same. */
async function findUnequal({ limitMs }: { readonly limitMs: number }): Promise<string[]> {
  const environment = {
    DATABASE_URL: cluster.databaseUrl,
    BUS: "kafka",
    KAFKA_BROKERS: kafkaOfThisRun(),
    KAFKA_TOPIC_PREFIX: cluster.prefix,
  };
  const question = { names: ["boxoffice", "voucher"], environment, data: "/nonexistent", health: [] };
  const compared = (await diagnose(question, { limitMs })).filter(({ area }) => area === "accounts");
  expect(compared.length).toBeGreaterThan(3);
  return compared.filter(({ level }) => level === "wrong").map(({ what }) => what);
}
