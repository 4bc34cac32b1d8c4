import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { sendScan } from "../failure/gates.ts";
import { importUntilAnswered } from "../failure/import-until-answered.ts";
import { countOutcomes } from "../failure/load.ts";
import { report, withDice } from "../failure/seeded.ts";
import { mend } from "./faults.ts";
import { type FireCluster, linksOf, startFireCluster } from "./fire-cluster.ts";
import { SteadyScans, tookMs } from "./steady-scans.ts";

let cluster: FireCluster;

beforeAll(async () => {
  cluster = await startFireCluster();
});

afterEach(async () => {
  await mend(cluster);
  await cluster.endLoads();
});

afterAll(() => cluster?.remove());

const perSecond = 25;
const usualMs = 5000;
const slowMs = 20_000;
const afterwardsMs = 12_000;
const addedMs = 1000;

/** The longest answer while it is slow, refusals for now included. */
const longestAnswerMs = 10_000;
const longestRecoveryMs = 5000;

it(
  "a database that takes a second more: answers in bounded time, and soon as before when it is over",
  { timeout: 180_000 },
  () =>
    withDice(async (dice) => {
      const { festival, baseUrls } = cluster;
      const scans = new SteadyScans(cluster, dice);
      const usual = await scans.sendFor(usualMs, perSecond);
      for (const link of linksOf(cluster)) link.delay(addedMs);
      const slow = await scans.sendFor(slowMs, perSecond);
      for (const link of linksOf(cluster)) link.heal();
      const afterwards = await scans.sendFor(afterwardsMs, perSecond);
      await scans.drain();
      const spans = { usual, slow, afterwards };
      const measured = Object.fromEntries(
        Object.entries(spans).map(([name, span]) => {
          const sent = scans.sentIn(span);
          const all = tookMs(sent);
          const half = all[Math.floor(all.length / 2)] ?? 0;
          return [
            name,
            { outcomes: countOutcomes(sent), medianMs: Math.round(half), slowestMs: Math.round(all.at(-1) ?? 0) },
          ];
        }),
      );
      const last = scans
        .sentIn(afterwards)
        .filter(({ outcome, endedAt, invokedAt }) => outcome.kind !== "admitted" || endedAt - invokedAt > 1000);
      const recoveredMs = Math.round(Math.max(0, ...last.map(({ endedAt }) => endedAt - afterwards.from)));
      report({ measured, mostAtOnce: scans.mostAtOnce, recoveredMs });
      expect(scans.oddities).toEqual([]);
      expect(tookMs(scans.sentIn(slow)).at(-1)).toBeLessThan(longestAnswerMs);
      expect(recoveredMs).toBeLessThan(longestRecoveryMs);
      expect(scans.sentIn(afterwards).length).toBeGreaterThan(50);
      // Each of them finds out in the end, and what was answered stays so.
      cluster.attempts.push(...scans.attempts);
      for (const { scan, outcome } of scans.attempts) {
        if (outcome.kind === "admitted") continue;
        const ticket = { position: scan.position, secret: `gate ticket/${scan.position}` };
        const invokedAt = performance.now();
        const again = await sendScan({ baseUrl: baseUrls[0], scan, ticket });
        cluster.attempts.push({ scan, invokedAt, endedAt: performance.now(), outcome: again.outcome });
        expect(again.outcome).toEqual({ kind: "admitted" });
      }
      const edition = festival.edition(dice);
      await importUntilAnswered({ baseUrl: baseUrls[0], body: edition.body });
      expect(await cluster.verify(edition)).toEqual([]);
      expect(cluster.loggedErrors({ outage: true })).toEqual([]);
    }),
);
