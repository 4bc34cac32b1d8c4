import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { longestSilenceMs, slowestScanMs } from "../failure/availability.ts";
import { openListChanges } from "../failure/list-changes.ts";
import { openListTerms } from "../failure/list-terms.ts";
import { countOutcomes, measure, recoveryMs, untilScanned } from "../failure/load.ts";
import { report, withDice } from "../failure/seeded.ts";
import { mend, planFaults, planFewFaults } from "./faults.ts";
import { type FireCluster, startFireCluster } from "./fire-cluster.ts";

let cluster: FireCluster;

beforeAll(async () => {
  cluster = await startFireCluster();
});

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await mend(cluster);
  await cluster.endLoads();
});

afterAll(() => cluster?.remove());

/** How often each kind of fault strikes. 0: once each those that no shorter test has. */
const rounds = Number(process.env["FIRE_ROUNDS"] ?? 0);

/** What a scanner waits before it tries the other gateway. */
const answerWithinMs = 5000;

const calmMs = 1500;

/** More gates than the platform has connections to its database; mostly they rest. */
const gateCount = 24;
const usualPauseMs = 240;
const rushMs = 1500;

it(
  "[C3.38, C3.46] no answered scan is lost or doubled under kills, freezes, half open connections and failovers",
  { timeout: 300_000 + rounds * 420_000 },
  () =>
    withDice(async (dice) => {
      const faults = rounds === 0 ? planFewFaults(dice) : Array.from({ length: rounds }, () => planFaults(dice)).flat();
      let pauseMs = usualPauseMs;
      const load = cluster.startLoad(dice, {
        count: gateCount,
        longestPauseMs: () => pauseMs,
        connectionsMayBreak: true,
        answerWithinMs,
        replayedPercent: 10,
      });
      const changes = openListChanges(cluster.baseUrls);
      undo.push(() => changes.close());
      const [ticket] = cluster.festival.spare;
      if (ticket === undefined) throw new Error("a festival has spare tickets");
      const terms = await openListTerms({ baseUrls: cluster.baseUrls, ticket, dice: dice.fork() });
      undo.push(() => terms.close());
      const { attempts } = load.gates;
      const struck: { fault: string; from: number; wholeAt: number; to: number }[] = [];
      for (const fault of faults) {
        await sleep(calmMs + dice.below(500));
        const from = performance.now();
        if (fault.inRush === true) {
          pauseMs = 1;
          await sleep(rushMs);
        }
        await fault.strike(cluster);
        const wholeAt = performance.now();
        pauseMs = usualPauseMs;
        const settling = fault.settle?.(cluster);
        // It is reported where it is awaited.
        settling?.catch(() => {});
        await untilScanned(attempts, wholeAt);
        const to = performance.now();
        await settling;
        struck.push({ fault: fault.name, from, wholeAt, to });
      }
      const isEnough = () => changes.counts.answered > 20 && Math.min(terms.judged.once, terms.judged.often) > 10;
      await expect.poll(isEnough, { timeout: 300_000 }).toBe(true);
      const lost = await changes.close();
      await terms.close();
      cluster.attempts.push(...terms.attempts);
      const { edition, oddities, imports, attempts: ofGates } = await load.finish();
      const measured = struck.map(({ fault, from, wholeAt, to }) => ({
        fault,
        tookMs: Math.round(wholeAt - from),
        longestSilenceMs: longestSilenceMs(ofGates, { from, to }),
        slowestScanMs: slowestScanMs(ofGates, { from, to }),
        recoveryMs: Math.round(recoveryMs(ofGates, wholeAt)),
      }));
      report({
        measured,
        listChanges: changes.counts,
        judgedByTerms: terms.judged,
        ...measure({ attempts: ofGates, imports }),
      });
      expect(lost).toEqual([]);
      expect([...oddities, ...changes.oddities, ...terms.oddities]).toEqual([]);
      expect(await cluster.verify(edition)).toEqual([]);
      expect(cluster.loggedErrors({ outage: true })).toEqual([]);
      const outcomes = countOutcomes(ofGates);
      for (const kind of ["admitted", "already_redeemed"]) expect(outcomes[kind]).toBeGreaterThan(100);
    }),
);
