import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { showProgress } from "@tessera/cli/progress";
import { type Compared, compareScanned, isTrue } from "./compare-scanned.ts";
import { gateRecords } from "./gate-records.ts";
import { onCluster, oneOfEach } from "./on-cluster.ts";
import { groundwork, onEmptyPlatform, sendRecords } from "./on-empty-platform.ts";
import { openSchema } from "./open-schema.ts";
import { fillLargeEvent, settleLargeEvent } from "./reads-material.ts";
import { findRate, heldSeconds } from "./redeem-rate.ts";
import { measureReference, prepareReference } from "./redeem-reference.ts";
import { sampledEnvironment, sampleWhile } from "./sampled-process.ts";
import { type LoadResult, startLoad } from "./start-load.ts";
import { type Usage, usageOf, usageOfPostgres } from "./usage.ts";
import { parts, shareOut } from "./where-time-goes.ts";

/** What is promised: shares of the rate of pgbench, and microseconds of processor time, ours and PostgreSQL's. */
const promised = {
  "in one process": { share: 1, ours: 60 },
  "over gRPC": { share: 0.75, ours: 110 },
} as const;
const promisedMs = { held: 50, half: 20 } as const;
const promisedOfPostgres = 100;
const promisedMegabytes = 256;

const sampledSeconds = 8;
const warmSeconds = 4;
const warmRates = [200, 400, 800, 1200];

/** How much slower a scan may be in a large event than in a small one, both at the same leisurely rate. */
const comparison = { tickets: 10_000, perSecond: 400, seconds: 6, promised: 1.2 } as const;
const referenceSeconds = 8;

/** A process that takes less for a scan has no part in it. */
const leastMicroseconds = 5;

/** After the load, until memory is read. */
const settledMs = 5000;

/** The platform under load. */
interface Target {
  readonly name: keyof typeof promised;
  readonly baseUrl: string;
  readonly postgres: { readonly url: string; readonly dataDirectory: string };
  readonly pids: () => readonly { readonly name: string; readonly pid: number }[];
}

/**
 * Redeems distinct tickets of a large event, on a list with products and a rule, beside pgbench of one bare statement: with
 * everything in one process, and with a gateway and two of check-in as processes on Kafka.
 */
export async function benchRedeem({ tickets }: { readonly tickets: number }): Promise<void> {
  const rows = [["", "measured", "promised"]];
  const environment = sampledEnvironment;
  await onEmptyPlatform(
    async ({ baseUrl, postgres, serving }) => {
      const pids = () => [{ name: "process", pid: serving.pid }];
      rows.push(...(await measure({ name: "in one process", baseUrl, postgres, pids }, tickets)));
    },
    { environment },
  );
  await onCluster({ replicas: { ...oneOfEach, checkin: 2 }, environment }, async ({ baseUrl, postgres, processes }) => {
    const pids = () => processes.map(({ plan, pid }) => ({ name: plan.name, pid: pid() ?? 0 }));
    rows.push(...(await measure({ name: "over gRPC", baseUrl, postgres, pids }, tickets)));
  });
  process.stdout.write(`${columns(rows)}\n`);
}

async function measure(target: Target, tickets: number): Promise<string[][]> {
  const progress = showProgress();
  const checkin = openSchema(target.postgres.url, "checkin");
  const load = await startLoad(target.baseUrl);
  try {
    await sendRecords(target.baseUrl, [...groundwork, ...gateRecords()]);
    const fill = async (range: { readonly after?: number; readonly tickets: number }) => {
      await fillLargeEvent(checkin, {
        ...range,
        onFilled: (filled) => progress.update(`filling… ${filled} of ${tickets}`),
      });
      progress.update("vacuuming…");
      await settleLargeEvent(checkin);
    };
    let next = 2;
    const admitted = new Set<number>();
    const others: Record<string, number> = {};
    const run = async (perSecond: number, seconds: number): Promise<LoadResult> => {
      progress.update(`${target.name}: ${perSecond.toFixed(0)} scans a second…`);
      const result = await load.run({ perSecond, seconds, firstTicket: next });
      if (result.nextTicket > tickets) throw new Error(`${tickets} tickets are not enough; give more with --tickets`);
      next = result.nextTicket;
      for (const ticket of result.tickets) admitted.add(ticket);
      for (const [answer, count] of Object.entries(result.others)) others[answer] = (others[answer] ?? 0) + count;
      return result;
    };
    await fill({ tickets: comparison.tickets });
    // Code that was never run is slow, and is compiled while it runs.
    await run(comparison.perSecond, warmSeconds);
    const small = await run(comparison.perSecond, comparison.seconds);
    await fill({ after: comparison.tickets, tickets });
    progress.update("measuring the reference…");
    await prepareReference(target.postgres.url);
    const pgbench = await measureReference(target.postgres.url, { seconds: referenceSeconds });
    for (const rate of warmRates) await run(rate, warmSeconds);
    const large = await run(comparison.perSecond, comparison.seconds);
    const { perSecond: rate, held } = await findRate(
      async (perSecond, seconds) => {
        const begun = await readUsage(target);
        const result = await run(perSecond, seconds);
        const usage = (await readUsage(target)).map((each, index) => since(each, begun[index]));
        return { ...result, usage };
      },
      { p99Ms: promisedMs.held },
    );
    const half = await run(rate / 2, heldSeconds);
    await sleep(settledMs);
    const after = await readUsage(target);
    const pids = target.pids().map(({ pid }) => pid);
    const where = (await sampleWhile(pids, () => run(rate, sampledSeconds))).map(shareOut);
    return describe(target.name, {
      pgbench,
      held,
      half,
      growth: large.p50 / small.p50,
      usage: held.usage,
      after,
      where,
      compared: await compareScanned(checkin, admitted),
      others,
    });
  } finally {
    progress.done();
    load.stop();
    await checkin.close();
  }
}

interface Figures {
  readonly pgbench: number;
  readonly held: LoadResult;
  readonly half: LoadResult;
  /** The p50 in the whole event, of that in a small one. */
  readonly growth: number;
  /** Of each process of ours, and of PostgreSQL at the end. */
  readonly usage: readonly NamedUsage[];
  /** The same, when the load is over. */
  readonly after: readonly NamedUsage[];
  /** The parts of each process of ours, under the load of `held`. */
  readonly where: readonly ReturnType<typeof shareOut>[];
  readonly compared: Compared;
  readonly others: Readonly<Record<string, number>>;
}

interface NamedUsage extends Usage {
  readonly name: string;
}

function describe(name: keyof typeof promised, figures: Figures): string[][] {
  const { pgbench, held, half, growth, usage, after, where, compared, others } = figures;
  const rate = held.answeredInTime / heldSeconds;
  const [ours, postgres] = [usage.slice(0, -1), usage.slice(-1)].map((some) =>
    some.reduce((sum, { cpuSeconds }) => sum + (cpuSeconds * 1e6) / held.sent, 0),
  );
  const spent = usage.flatMap((process, index): [string, string, string][] => {
    const each = (process.cpuSeconds * 1e6) / held.sent;
    const shares = where[index];
    const listed =
      shares === undefined ? "" : `: ${parts.map((part) => `${part} ${(shares[part] * each).toFixed(0)}`).join(", ")}`;
    return each < leastMicroseconds ? [] : [[`    ${process.name}`, `${each.toFixed(0)} µs${listed}`, ""]];
  });
  const processes = after.slice(0, -1);
  const largest = Math.max(...processes.map(({ residentMegabytes }) => residentMegabytes));
  const peak = Math.max(...processes.map(({ peakMegabytes }) => peakMegabytes));
  const isKept =
    rate >= pgbench * promised[name].share &&
    held.p99 < promisedMs.held &&
    half.p99 < promisedMs.half &&
    growth <= comparison.promised &&
    (ours ?? 0) <= promised[name].ours &&
    (postgres ?? 0) <= promisedOfPostgres &&
    largest < promisedMegabytes;
  if (!isKept || !isTrue(compared) || Object.keys(others).length > 0) process.exitCode = 1;
  return [
    [
      `redeem ${name}`,
      `${rate.toFixed(0)}/s = ${((rate / pgbench) * 100).toFixed(0)} % of pgbench (${pgbench.toFixed(0)}/s)`,
      `${promised[name].share * 100} %`,
    ],
    ["  p50 and p99 then", `${held.p50.toFixed(1)} and ${held.p99.toFixed(1)} ms`, `p99 ${promisedMs.held} ms`],
    ["  at half of that rate", `${half.p50.toFixed(1)} and ${half.p99.toFixed(1)} ms`, `p99 ${promisedMs.half} ms`],
    [
      `  p50 of ${comparison.perSecond} a second, of that with ${comparison.tickets} tickets`,
      `${growth.toFixed(2)} times`,
      `${comparison.promised} times`,
    ],
    ["  processor time each, ours", `${ours?.toFixed(0)} µs`, `${promised[name].ours} µs`],
    ["  of PostgreSQL", `${postgres?.toFixed(0)} µs`, `${promisedOfPostgres} µs`],
    ...spent,
    ["  largest process, its peak", `${largest.toFixed(0)}, ${peak.toFixed(0)} MiB`, `${promisedMegabytes} MiB`],
    [
      "  answered 201; lost or doubled, stored without a 201, other answers",
      `${compared.admitted}; ${compared.lostOrDoubled}, ${compared.unanswered}, ${JSON.stringify(others)}`,
      "0, 0, {}",
    ],
  ];
}

async function readUsage({ pids, postgres }: Target): Promise<NamedUsage[]> {
  const ours = await Promise.all(pids().map(async ({ name, pid }) => ({ name, ...(await usageOf(pid)) })));
  return [...ours, { name: "PostgreSQL", ...(await usageOfPostgres(postgres.dataDirectory)) }];
}

function since(now: NamedUsage, before: Usage | undefined): NamedUsage {
  return { ...now, cpuSeconds: now.cpuSeconds - (before?.cpuSeconds ?? 0) };
}
