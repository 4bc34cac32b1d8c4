import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { findUncertain } from "../failure/availability.ts";
import { type FestivalCluster, startFestivalCluster } from "../failure/festival-cluster.ts";
import { openListChanges } from "../failure/list-changes.ts";
import { measure } from "../failure/load.ts";
import { report, withDice } from "../failure/seeded.ts";
import { growthOf, type Sample } from "./slope.ts";

/** The heaps of processes that do little take ten minutes to be as large as they stay. */
const minutes = Number(process.env["SOAK_MINUTES"] ?? 20);
/** Caches fill, pools open, and code is compiled. */
const warmUpPart = 0.3;
const sampleMs = 5000;

/** With the limit of the operations guide a process collects its garbage, and what is left is what it keeps. */
const heapMegabytes = 192;

/** What may be gained in the time after the warm-up. */
const mostGrowth = { megabytes: 40, files: 8, connections: 4 } as const;
type Measure = keyof typeof mostGrowth;

let cluster: FestivalCluster;

beforeAll(async () => {
  cluster = await startFestivalCluster({ environment: { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` } });
});

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await cluster?.endLoads();
});

afterAll(() => cluster?.remove());

it.runIf(process.platform === "linux")(
  `memory, files and database connections of every process stay flat for ${minutes} minutes of scans, imports and changes`,
  { timeout: minutes * 60_000 + 180_000 },
  () =>
    withDice(async (dice) => {
      const load = cluster.startLoad(dice, { connectionsMayBreak: false, replayedPercent: 10 });
      const changes = openListChanges(cluster.baseUrls);
      undo.push(() => changes.close());
      const from = performance.now();
      const to = from + minutes * 60_000;
      const samples = new Map<string, Sample[]>();
      const note = (name: string, sample: Sample) => samples.set(name, [...(samples.get(name) ?? []), sample]);
      for (; performance.now() < to; await sleep(sampleMs)) {
        const at = performance.now();
        if (at < from + (to - from) * warmUpPart) continue;
        for (const { plan, pid } of cluster.processes)
          for (const [measured, value] of Object.entries(await look(pid())))
            note(`${measured} of ${plan.name}`, { at, value });
        for (const { name, count } of await countConnections()) note(`connections of ${name}`, { at, value: count });
      }
      const lost = await changes.close();
      const { edition, oddities, imports, attempts } = await load.finish();
      const grown = [...samples].map(([name, all]) => ({
        name,
        samples: all.length,
        last: all.at(-1)?.value,
        growth: Math.round(growthOf(all)),
      }));
      report({ minutes, grown, listChanges: changes.counts, ...measure({ attempts, imports }) });
      expect(grown.filter(({ name, growth }) => growth > mostGrowth[name.split(" ")[0] as Measure])).toEqual([]);
      expect(grown.every((each) => each.samples > 5)).toBe(true);
      expect(grown.length).toBeGreaterThan(2 * cluster.processes.length);
      expect(findUncertain(attempts, { from, to })).toEqual([]);
      expect([...lost, ...oddities, ...changes.oddities]).toEqual([]);
      expect(await cluster.verify(edition)).toEqual([]);
      expect(cluster.loggedErrors()).toEqual([]);
    }),
);

async function look(pid: number | undefined): Promise<{ megabytes: number; files: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return { megabytes: Math.round(kilobytes / 1024), files: (await readdir(`/proc/${pid}/fd`)).length };
}

/** By the names under which processes connect. */
function countConnections(): Promise<{ name: string; count: number }[]> {
  return cluster.db.many(sql`
    select pg_stat_activity.application_name as name, count(*) as count
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and starts_with(pg_stat_activity.application_name, 'tessera-')
     group by pg_stat_activity.application_name`);
}
