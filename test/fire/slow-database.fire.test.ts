import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { lists } from "../failure/festival.ts";
import { sendScan } from "../failure/gates.ts";
import { importUntilAnswered } from "../failure/import-until-answered.ts";
import { countOutcomes } from "../failure/load.ts";
import type { Attempt } from "../failure/scan-history.ts";
import { report, withDice } from "../failure/seeded.ts";
import { mend } from "./faults.ts";
import { type FireCluster, linksOf, startFireCluster } from "./fire-cluster.ts";

let cluster: FireCluster;

beforeAll(async () => {
  cluster = await startFireCluster();
});

afterEach(async () => {
  await mend(cluster);
  await cluster.endLoads();
});

afterAll(() => cluster?.remove());

/** Visitors come at this pace, however long those before them wait. */
const everyMs = 40;
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
      const run = dice.below(2 ** 31).toString(36);
      const attempts: Attempt[] = [];
      const oddities: string[] = [];
      let most = 0;
      const open = new Set<Promise<void>>();
      const scanOne = async (number: number) => {
        const ticket = festival.tickets[number % festival.tickets.length] ?? dice.pick(festival.tickets);
        const scan = {
          gate: number,
          nonce: `${run}-${number}`,
          list: lists.often.id,
          position: ticket.position,
          type: "entry",
        } as const;
        const baseUrl = baseUrls[number % 2] ?? baseUrls[0];
        const invokedAt = performance.now();
        const { outcome, oddity } = await sendScan({ baseUrl, scan, ticket, withinMs: 30_000 });
        attempts.push({ scan, baseUrl, invokedAt, endedAt: performance.now(), outcome });
        if (oddity !== undefined) oddities.push(oddity);
      };
      let number = 0;
      const openFor = async (ms: number) => {
        const from = performance.now();
        for (; performance.now() < from + ms; await sleep(everyMs)) {
          number += 1;
          const scanning = scanOne(number).finally(() => open.delete(scanning));
          open.add(scanning);
          most = Math.max(most, open.size);
        }
        return { from, to: performance.now() };
      };
      const usual = await openFor(usualMs);
      for (const link of linksOf(cluster)) link.delay(addedMs);
      const slow = await openFor(slowMs);
      for (const link of linksOf(cluster)) link.heal();
      const afterwards = await openFor(afterwardsMs);
      await Promise.all(open);
      const spans = { usual, slow, afterwards };
      const of = ({ from, to }: typeof slow) =>
        attempts.filter((each) => each.invokedAt >= from && each.invokedAt < to);
      const took = (some: readonly Attempt[]) => some.map(({ invokedAt, endedAt }) => endedAt - invokedAt);
      const measured = Object.fromEntries(
        Object.entries(spans).map(([name, span]) => {
          const all = took(of(span)).sort((a, b) => a - b);
          const half = all[Math.floor(all.length / 2)] ?? 0;
          return [
            name,
            { outcomes: countOutcomes(of(span)), medianMs: Math.round(half), slowestMs: Math.round(all.at(-1) ?? 0) },
          ];
        }),
      );
      const last = of(afterwards).filter(
        ({ outcome, endedAt, invokedAt }) => outcome.kind !== "admitted" || endedAt - invokedAt > 1000,
      );
      const recoveredMs = Math.round(Math.max(0, ...last.map(({ endedAt }) => endedAt - afterwards.from)));
      report({ measured, mostAtOnce: most, recoveredMs });
      expect(oddities).toEqual([]);
      expect(Math.max(...took(of(slow)))).toBeLessThan(longestAnswerMs);
      expect(recoveredMs).toBeLessThan(longestRecoveryMs);
      expect(of(afterwards).length).toBeGreaterThan(50);
      // Each of them finds out in the end, and what was answered stays so.
      cluster.attempts.push(...attempts);
      for (const { scan, outcome } of attempts) {
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
