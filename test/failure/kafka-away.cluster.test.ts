import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { runCommand } from "../e2e/command.ts";
import { findUncertain, longestSilenceMs, type Span, slowestScanMs } from "./availability.ts";
import { compareCopies } from "./compare-copies.ts";
import { waitForEmptyOutboxes } from "./fact-ledger.ts";
import { lists } from "./festival.ts";
import { type FestivalCluster, startFestivalCluster } from "./festival-cluster.ts";
import { openGates, sendScan } from "./gates.ts";
import { importOnce, importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, measure, untilScanned } from "./load.ts";
import { pulseRecord } from "./pulse.ts";
import type { Attempt } from "./scan-history.ts";
import { isLong, report, withDice } from "./seeded.ts";

let kafka: KafkaEngine;
let redis: RedisServer;
let cluster: FestivalCluster;

beforeAll(async () => {
  [kafka, redis] = await Promise.all([startKafka(), startRedis()]);
  cluster = await startFestivalCluster({
    kafkaBrokers: kafka.brokers,
    redisUrl: redis.url,
    // A short import ends soon after Kafka is back.
    size: { tickets: 200, orders: 100 },
  });
});

afterEach(() => cluster?.endLoads());

afterAll(async () => {
  await cluster?.remove();
  await Promise.all([kafka?.stop(), redis?.stop()]);
});

/** How many scans gates have decided before what is away comes back. */
const scansMeanwhile = 150;

it("gates go on while Kafka is dead or frozen, or is away with Redis and boxoffice, and everything arrives afterwards", () =>
  withDice(async (dice) => {
    const [baseUrl] = cluster.baseUrls;
    const load = cluster.startLoad(dice, { connectionsMayBreak: false });
    const { attempts: scans } = load.gates;
    await untilScanned(scans, performance.now(), 50);
    const measured: Record<string, unknown>[] = [];
    const away: Span[] = [];
    for (const how of ["killed", "frozen"] as const) {
      if (how === "killed") away.push(await leaveAlone(scans));
      else kafka.freeze();
      let from = performance.now();
      const importing = importOnce({ baseUrl, body: pulseRecord(how) }).then((outcome) => ({
        outcome,
        at: performance.now(),
      }));
      if (how === "killed") {
        // A process that starts meanwhile needs no Kafka to be ready.
        const process = cluster.process("checkin-2");
        await process.kill();
        // Scanners send those scans again that were under way there.
        from = performance.now();
        await process.start();
      }
      await untilScanned(scans, from, scansMeanwhile);
      const to = performance.now();
      if (how === "killed") await kafka.start();
      else kafka.thaw();
      const backAt = performance.now();
      const { outcome, at } = await importing;
      expect(outcome).toMatchObject({ answer: { accepted: 1, rejected: 0 } });
      // It was stored, and not every service can have applied it.
      if (at < to) expect(outcome).toMatchObject({ answer: { settled: false } });
      await importUntilAnswered({ baseUrl, body: pulseRecord(`${how}, back`) });
      away.push({ from, to });
      measured.push({
        how,
        importAnsweredAfterMs: Math.round(at - from),
        settled: "answer" in outcome && outcome.answer.settled,
        settledAfterMs: Math.round(performance.now() - backAt),
      });
    }
    const { edition, oddities, imports, attempts } = await load.finish();
    const gates = away.map((span) => ({
      longestSilenceMs: longestSilenceMs(attempts, span),
      slowestScanMs: slowestScanMs(attempts, span),
      outcomes: countOutcomes(attempts.filter(({ invokedAt }) => invokedAt > span.from && invokedAt < span.to)),
    }));
    report({ measured, gates, ...measure({ attempts, imports }) });
    for (const [index, span] of away.entries()) {
      expect(findUncertain(attempts, span)).toEqual([]);
      expect(gates[index]?.outcomes["admitted"]).toBeGreaterThan(10);
    }
    expect(oddities).toEqual([]);
    expect(await cluster.verify(edition)).toEqual([]);
    expect(await compareCopies(cluster.db)).toEqual([]);
    expect(cluster.loggedErrors({ outage: true })).toEqual([]);
  }));

/** Stops Kafka, Redis and boxoffice at once, which gates do not need, and starts the last two again. */
async function leaveAlone(scans: readonly Attempt[]): Promise<Span> {
  const boxoffice = cluster.process("boxoffice-1");
  const from = performance.now();
  await Promise.all([kafka.kill(), redis.kill(), boxoffice.kill()]);
  // As if it belonged to an order that changes.
  const { position } = cluster.festival.fleeting[0] ?? { position: 0 };
  const stranger = { position, secret: "nobody has this code" };
  const scan = { gate: -1, list: lists.once.id, nonce: `stranger-${from}`, position, type: "entry" } as const;
  // Checkin cannot know whether it was sold seconds ago, and a gate does not wait for that.
  const invokedAt = performance.now();
  const [baseUrl] = cluster.baseUrls;
  const { outcome } = await sendScan({ baseUrl, scan, ticket: stranger });
  const endedAt = performance.now();
  cluster.attempts.push({ scan, invokedAt, endedAt, outcome });
  expect(outcome).toEqual({ kind: "refused", reason: "invalid" });
  await untilScanned(scans, from, scansMeanwhile);
  const to = performance.now();
  await Promise.all([redis.restart(), boxoffice.start()]);
  return { from, to };
}

it("Kafka loses all its data, and a rebuild completes every copy", () =>
  withDice(async (dice) => {
    const { baseUrls, db, festival } = cluster;
    const checkins = ["checkin-1", "checkin-2"].map((name) => cluster.process(name));
    // Facts that Kafka has accepted and no consumer has read: they are lost with its log.
    for (const process of checkins) process.signal("SIGSTOP");
    const edition = festival.edition(dice);
    const enough = new AbortController();
    const untold = importOnce({ baseUrl: baseUrls[0], body: edition.body, signal: enough.signal });
    await untilNothingChanges(db);
    expect(await waitForEmptyOutboxes(db, 60_000)).toBe(0);
    await kafka.wipe();
    for (const process of checkins) process.signal("SIGCONT");
    const wipedAt = performance.now();
    const gates = openGates({ baseUrls, festival, dice: dice.fork(), connectionsMayBreak: false });
    await cluster.createTopics();
    const before = await compareCopies(db);
    // Otherwise nothing was lost, and nothing proven.
    expect(before).not.toEqual([]);
    // Removals, too: only the end of a rebuild tells a copy of them.
    expect(before.join()).toContain("positions hold");
    const command = runCommand(["topics", "rebuild", "--all"], { DATABASE_URL: cluster.databaseUrl });
    const ended = await command.ended;
    const rebuiltAfterMs = Math.round(performance.now() - wipedAt);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(
      "arrived at checkin and gateway and layout-and-render and offline-sales and shredder and voucher\n",
    );
    expect(await compareCopies(db)).toEqual([]);
    // And new facts arrive again.
    const { ms } = await importUntilAnswered({ baseUrl: baseUrls[0], body: edition.body });
    // Its markers were lost with its facts, and it waits half a minute for them. All above may take longer.
    if (!isLong) enough.abort();
    const told = await untold;
    if ("answer" in told) expect(told.answer).toMatchObject({ accepted: edition.lines, rejected: 0, settled: false });
    else expect(isLong).toBe(false);
    await gates.close();
    cluster.attempts.push(...gates.attempts);
    report({
      before,
      rebuiltAfterMs,
      settledAfterMs: Math.round(ms),
      outcomes: countOutcomes(gates.attempts),
      told: ended.stdout,
    });
    expect(gates.oddities).toEqual([]);
    expect(await cluster.verify(edition, { toldAgain: true })).toEqual([]);
    expect(await compareCopies(db)).toEqual([]);
  }));

it("after all that every process still stops in order", async () => {
  expect(await cluster.stopInOrder()).toEqual([]);
});

/** Waits until records have changed something, and then for a while without changes. */
async function untilNothingChanges(db: Db): Promise<void> {
  const read = async () =>
    (await db.one<{ last: number }>(sql`select last_value as last from boxoffice.revision_seq`)).last;
  const first = await read();
  let last = first;
  for (let since = performance.now(), until = since + 300_000; performance.now() < until; await sleep(50)) {
    const now = await read();
    if (now !== last) since = performance.now();
    last = now;
    if (now !== first && performance.now() - since > 1500) return;
  }
  throw new Error("the records had not changed everything within five minutes");
}
