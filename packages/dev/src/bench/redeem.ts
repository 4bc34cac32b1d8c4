import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { sendRecords } from "./client.ts";
import { fillLargeEvent } from "./large-event.ts";
import { type LoadProcess, type LoadResult, withLoad } from "./load.ts";
import { inOneProcess, onKafka, type Platform } from "./platform.ts";
import { gate } from "./records.ts";
import { findRate, heldSeconds } from "./redeem-rate.ts";
import { measurePgbench } from "./reference.ts";
import { atMost, figure, type Row, report } from "./report.ts";
import { readProcessors, usageOf } from "./usage.ts";

/** What is promised: shares of the rate of pgbench, and microseconds of processor time. */
const promised = {
  "in one process": { percent: 100, ours: 60 },
  "with a process for each service, on Kafka": { percent: 75, ours: 110 },
} as const;
const promisedMs = { held: 50, half: 20, admitted: 250, refused: 50, recovered: 50 } as const;
const promisedOfPostgres = 100;
const promisedMegabytes = 256;

const warmSeconds = 4;
const warmRates = [200, 400, 800, 1200];
const referenceSeconds = 8;

/** After the load, until memory is read. */
const settledMs = 5000;

/** How much slower a scan may be in a large event than in a small one, both at the same leisurely rate. */
const comparison = { tickets: 10_000, perSecond: 400, seconds: 6, promised: 1.2 } as const;

/** Scans a second that checkin may decide, and how many times as many come, over so many connections. */
const overload = { capacity: 1000, times: 5, seconds: 60, connections: 512 } as const;

/**
 * Redeems distinct tickets of a large event, on a list with products and a rule, beside pgbench of one bare statement: with
 * everything in one process, and with a process for each service and two of checkin on Kafka. Last, more scans come than
 * can be decided.
 */
export async function benchRedeem(tickets: number): Promise<void> {
  const rows = await inOneProcess((platform) => measure("in one process", platform, tickets));
  rows.push(
    ...(await onKafka((platform) => measure("with a process for each service, on Kafka", platform, tickets), {
      checkins: 2,
    })),
    ...(await inOneProcess((platform) => measureOverload(platform, tickets), {
      environment: { REDEEM_PER_SECOND: String(overload.capacity) },
    })),
  );
  report(rows);
}

async function measure(name: keyof typeof promised, platform: Platform, tickets: number): Promise<Row[]> {
  const { baseUrl, progress, open } = platform;
  await sendRecords(baseUrl, gate);
  return withLoad({ baseUrl }, async (load) => {
    const gates = await openGates(platform, { load, checkin: open("checkin"), tickets: comparison.tickets });
    // Code that was never run is slow, and is compiled while it runs.
    await gates.run(comparison.perSecond, warmSeconds);
    const small = await gates.run(comparison.perSecond, comparison.seconds);
    await gates.fill(tickets);
    progress.update("measuring pgbench…");
    const pgbench = await measurePgbench(platform, { seconds: referenceSeconds });
    for (const rate of warmRates) await gates.run(rate, warmSeconds);
    const large = await gates.run(comparison.perSecond, comparison.seconds);
    const { perSecond, held } = await findRate(
      async (rate, seconds) => {
        const before = await readProcessors(platform);
        const result = await gates.run(rate, seconds);
        const after = await readProcessors(platform);
        const each = (now: number, then: number) => ((now - then) * 1e6) / result.sent;
        return { ...result, ours: each(after.ours, before.ours), postgres: each(after.postgres, before.postgres) };
      },
      { p99Ms: promisedMs.held },
    );
    const half = await gates.run(perSecond / 2, heldSeconds);
    await sleep(settledMs);
    const memory = await Promise.all(platform.processes().map(({ pid }) => usageOf(pid)));
    const rate = held.answeredInTime / heldSeconds;
    const { percent, ours } = promised[name];
    const share = (rate / pgbench) * 100;
    return [
      figure(`scans ${name}`, `${rate.toFixed(0)} a second; pgbench ${pgbench.toFixed(0)}`),
      {
        ...figure("  ratio to pgbench", `${share.toFixed(0)} %`),
        ...{ promised: `${percent} %`, isKept: share >= percent },
      },
      figure("  p50", `${held.p50.toFixed(1)} ms`),
      atMost("  p99", held.p99, promisedMs.held, "ms"),
      atMost("  p99 at half of that rate", half.p99, promisedMs.half, "ms"),
      atMost(
        `  p50 of ${comparison.perSecond} a second, of that with ${comparison.tickets} tickets`,
        ...([large.p50 / small.p50, comparison.promised, "times"] as const),
      ),
      atMost("  processor time of each, ours", held.ours, ours, "µs"),
      atMost("  of PostgreSQL", held.postgres, promisedOfPostgres, "µs"),
      atMost(
        "  memory of the largest process after it",
        ...([Math.max(...memory.map(({ residentMegabytes }) => residentMegabytes)), promisedMegabytes, "MiB"] as const),
      ),
      ...(await gates.compare(new Set())),
    ];
  });
}

/** Sends five times as many scans as checkin may decide, then half as many, and tells what gates see. */
async function measureOverload({ baseUrl, open, ...rest }: Platform, tickets: number): Promise<Row[]> {
  const { capacity, times, connections } = overload;
  // Small events are overloaded for less than a minute.
  const seconds = Math.max(1, Math.min(overload.seconds, Math.floor(tickets / (2 * capacity * times))));
  await sendRecords(baseUrl, gate);
  return withLoad({ baseUrl, connections }, async (load) => {
    const gates = await openGates(rest, { load, checkin: open("checkin"), tickets });
    await gates.run(capacity / 4, warmSeconds);
    const during = await gates.run(capacity * times, seconds);
    const after = await gates.run(capacity / 2, warmSeconds);
    return [
      figure(
        `${capacity * times} scans a second for ${seconds} s while ${capacity} may be decided`,
        `${during.sent} sent, ${during.tickets.length} admitted, ${during.others["429"] ?? 0} refused for now`,
      ),
      atMost("  p99 of those that are admitted", during.p99Admitted, promisedMs.admitted, "ms"),
      atMost("  p99 of those that are refused", during.p99Refused, promisedMs.refused, "ms"),
      atMost("  p99 right after it, at half of the capacity", after.p99, promisedMs.recovered, "ms"),
      ...(await gates.compare(new Set(["429"]))),
    ];
  });
}

/** Gates that scan the tickets of the event one after the other. */
async function openGates(
  { progress }: Pick<Platform, "progress">,
  { load, checkin, tickets }: { readonly load: LoadProcess; readonly checkin: Db; readonly tickets: number },
) {
  let [filled, next] = [1, 2];
  const admitted = new Set<number>();
  const others: Record<string, number> = {};
  const fill = async (count: number) => {
    if (count > filled) await fillLargeEvent(checkin, { after: filled, tickets: count, progress });
    filled = Math.max(filled, count);
  };
  await fill(tickets);
  return {
    /** Sees to it that the event has so many tickets. */
    fill,
    async run(perSecond: number, seconds: number): Promise<LoadResult> {
      await fill(next + Math.ceil(perSecond * seconds * ticketsOfScan));
      progress.update(`${perSecond.toFixed(0)} scans a second…`);
      const result = await load.run({ perSecond, seconds, firstTicket: next });
      next = result.nextTicket;
      for (const ticket of result.tickets) admitted.add(ticket);
      for (const [answer, count] of Object.entries(result.others)) others[answer] = (others[answer] ?? 0) + count;
      return result;
    },
    /** Compares the scans that are stored with the tickets that were answered 201. */
    async compare(expected: ReadonlySet<string>): Promise<Row[]> {
      const rows = await checkin.many<{ ticket: number; scans: number }>(sql`
        select scan.position as ticket, count(*) as scans
          from scan
         where scan.list = 1 and scan.successful and scan.nonce is not null
         group by scan.position`);
      const right = rows.filter(({ ticket, scans }) => admitted.has(ticket) && scans === 1).length;
      const unanswered = rows.filter(({ ticket }) => !admitted.has(ticket)).length;
      const other = Object.keys(others).filter((answer) => !expected.has(answer)).length;
      return [
        figure("  answered 201", String(admitted.size)),
        atMost("  lost or doubled", admitted.size - right, 0, "scans"),
        atMost("  stored without a 201", unanswered, 0, "scans"),
        {
          ...atMost("  other answers", other, 0, "kinds"),
          measured: other === 0 ? "none" : JSON.stringify(others),
        },
      ];
    },
  };
}

/** Three of ten tickets were scanned before, and a few more scans may come than the rate says. */
const ticketsOfScan = 1.7;
