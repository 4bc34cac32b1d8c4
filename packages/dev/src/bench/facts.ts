import { loadavg, tmpdir } from "node:os";
import { columns } from "@tessera/cli/columns";
import { type Progress, showProgress } from "@tessera/cli/progress";
import { createLog, type Log } from "@tessera/kit/log";
import { sql } from "@tessera/kit/pg/sql";
import { startService } from "../serving-process.ts";
import { type Drain, fillBacklog, watchDrain, writeBare } from "./facts-backlog.ts";
import { type Delays, measureDelays } from "./facts-delay.ts";
import { type Engines, memoryFolder, withEngines } from "./facts-engines.ts";
import { type Usage, usageOf, usageOfPostgres } from "./usage.ts";

/** What is promised. */
const promised = { p99Ms: 100, ratio: 0.5 } as const;

const rate = 2000;

/**
 * Measures facts from boxoffice's schema to check-in's, over PostgreSQL and Kafka, with check-in in a process of its own:
 * the delay of one fact under a steady load, and the rate at which a backlog is drained, compared with bare upserts of
 * the same rows.
 *
 * While the delay is measured, everything is stored in `folder`, by default in memory: shared disks pause for up to a
 * second now and then.
 */
export async function benchFacts({
  facts,
  seconds,
  folder = memoryFolder() ?? tmpdir(),
}: {
  facts: number;
  seconds: number;
  folder?: string;
}): Promise<void> {
  const progress = showProgress();
  const log = createLog({ service: "bench", level: "warn", destination: process.stderr });
  const load = [loadavg()[0] ?? 0];
  const noteLoad = () => load.push(loadavg()[0] ?? 0);
  try {
    const delays =
      seconds === 0
        ? undefined
        : await withEngines({ folder, log, progress }, async ({ settings, url, bus, checkin }) => {
            const serving = await startService("checkin", settings);
            try {
              return await measureDelays({ url, bus, checkin, rate, seconds, log, progress });
            } finally {
              await serving.stop();
            }
          });
    noteLoad();
    const backlog = await withEngines({ folder: tmpdir(), log, progress }, (engines) =>
      drainBacklog(engines, { facts, log, progress, noteLoad }),
    );
    progress.done();
    print({ facts, folder, delays, ...backlog, load });
    if (backlog.drain.perSecond / backlog.barePerSecond < promised.ratio || (delays?.p99 ?? 0) >= promised.p99Ms)
      process.exitCode = 1;
  } finally {
    progress.done();
  }
}

interface Backlog {
  readonly bytes: number;
  readonly drain: Drain;
  readonly barePerSecond: number;
  readonly consumer: Usage;
  readonly postgres: { readonly drainSeconds: number; readonly bareSeconds: number; readonly peakMegabytes: number };
}

async function drainBacklog(
  { settings, url, bus, checkin, dataDirectory }: Engines,
  { facts, log, progress, noteLoad }: { facts: number; log: Log; progress: Progress; noteLoad(): void },
): Promise<Backlog> {
  const bytes = await fillBacklog(bus, { facts, progress });
  await checkin.run(sql`checkpoint`);
  noteLoad();
  const before = await usageOfPostgres(dataDirectory);
  const started = performance.now();
  const serving = await startService("checkin", settings);
  try {
    const drain = await watchDrain(checkin, { facts, started, progress });
    const [consumer, after] = [await usageOf(serving.pid), await usageOfPostgres(dataDirectory)];
    noteLoad();
    const bare = await writeBare({ url, facts, ...drain, log, progress });
    const afterBare = await usageOfPostgres(dataDirectory);
    noteLoad();
    return {
      bytes,
      drain,
      barePerSecond: bare.perSecond,
      consumer,
      postgres: {
        drainSeconds: after.cpuSeconds - before.cpuSeconds,
        bareSeconds: afterBare.cpuSeconds - after.cpuSeconds,
        peakMegabytes: afterBare.peakMegabytes,
      },
    };
  } finally {
    await serving.stop();
  }
}

function print(
  result: Backlog & { facts: number; folder: string; delays: Delays | undefined; load: readonly number[] },
): void {
  const { facts, delays, drain, barePerSecond, consumer, postgres } = result;
  const each = (seconds: number) => `${((seconds * 1e6) / facts).toFixed(0)} µs a fact`;
  const rows: [string, string][] = [];
  if (delays !== undefined) {
    rows.push(
      ["facts from commit to effect", `${delays.facts}, ${delays.perSecond.toFixed(0)} a second`],
      ["  half of them within", `${delays.p50.toFixed(1)} ms`],
      ["  99 % within", `${delays.p99.toFixed(1)} ms (limit ${promised.p99Ms} ms)`],
      ["  99 % within, in the middle second", `${middleOf(delays.p99OfSeconds).toFixed(1)} ms`],
      ["  99 % within, second by second", delays.p99OfSeconds.map((ms) => ms.toFixed(0)).join(" ")],
      ["  the slowest", `${delays.max.toFixed(1)} ms`],
      ["  stored in", result.folder],
    );
  }
  rows.push(
    ["backlog", `${facts} facts of ${(result.bytes / facts).toFixed(0)} bytes`],
    ["  drained at", `${drain.perSecond.toFixed(0)} facts a second`],
    ["  after the start of the process", `${drain.seconds.toFixed(1)} s`],
    ["  facts to a transaction", String(drain.batch)],
    ["  transactions at a time", String(drain.connections)],
    ["bare upserts of the same rows", `${barePerSecond.toFixed(0)} rows a second`],
    ["ratio to bare upserts", `${(drain.perSecond / barePerSecond).toFixed(2)} (limit ${promised.ratio})`],
    ["CPU of the consumer's process", each(consumer.cpuSeconds)],
    ["CPU of PostgreSQL, drain", each(postgres.drainSeconds)],
    ["CPU of PostgreSQL, bare upserts", each(postgres.bareSeconds)],
    ["peak memory, consumer's process", `${consumer.peakMegabytes.toFixed(0)} MiB`],
    ["peak memory, largest PostgreSQL process", `${postgres.peakMegabytes.toFixed(0)} MiB, shared buffers included`],
    ["load of the machine", result.load.map((each) => each.toFixed(1)).join(", ")],
  );
  process.stdout.write(`${columns(rows)}\n`);
}

/** The median: other work of the machine changes only some seconds. */
function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
