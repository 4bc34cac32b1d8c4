import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "@tessera/cli/progress";
import { quantile } from "@tessera/cli/quantile";
import type { Bus } from "@tessera/kit/bus/bus";
import { startRelay } from "@tessera/kit/bus/relay";
import type { Log } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { place, positionFactOf } from "./facts-material.ts";

/** How long facts took from their commit to their effect, in milliseconds. */
export interface Delays {
  readonly facts: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The 99th percentile of each second of writing, in their order. */
  readonly p99OfSeconds: readonly number[];
}

/** Afterwards compilers and caches are warm. */
const warmSeconds = 15;

/** Facts in a transaction, in turn: at such a rate boxoffice applies records in batches. */
const factsTogether = [4, 10, 16];

/** A slower machine falls behind the rate, and the figures show it. */
const mostAtWork = 200;

const longestWaitMs = 120_000;

/**
 * Writes position facts at a steady rate as boxoffice does, some to a transaction, moved by its relay in the same
 * process; a late transaction does not delay the next ones. A fact's time runs from the moment before its commit
 * is sent to the time that PostgreSQL gave the commit of its effect.
 */
export async function measureDelays(options: {
  url: string;
  bus: Bus;
  checkin: Db;
  rate: number;
  seconds: number;
  log: Log;
  progress: Progress;
}): Promise<Delays> {
  const { url, bus, checkin, rate, seconds, log, progress } = options;
  const boxoffice = openDatabase({
    url,
    schema: "boxoffice",
    role: roleOf("boxoffice"),
    applicationName: "bench-boxoffice",
    log,
  });
  const relay = startRelay({ db: boxoffice, bus, log });
  try {
    const warming = rate * warmSeconds;
    const facts = warming + rate * seconds;
    const written = await writeSteadily(boxoffice, {
      facts,
      rate,
      onWritten: (count) => progress.update(`facts from commit to effect… ${count} written`),
    });
    const took = (written.lastDone - (written.at[warming] ?? Number.NaN)) / 1_000_000;
    await untilArrived(checkin, facts);
    const inTurn = await readDelays(checkin, { warming, writtenAt: written.at });
    const delays = inTurn.toSorted((a, b) => a - b);
    return {
      facts: delays.length,
      perSecond: delays.length / took,
      p50: quantile(delays, 0.5),
      p99: quantile(delays, 0.99),
      max: delays.at(-1) ?? Number.NaN,
      p99OfSeconds: Array.from({ length: seconds }, (_, second) =>
        quantile(inTurn.slice(second * rate, (second + 1) * rate), 0.99),
      ),
    };
  } finally {
    await relay.stop();
    await boxoffice.close();
  }
}

interface Written {
  /** When the fact of each position was written, in microseconds since 1970; ids begin at 1. */
  readonly at: Float64Array;
  readonly lastDone: number;
}

async function writeSteadily(
  boxoffice: Db,
  { facts, rate, onWritten }: { facts: number; rate: number; onWritten: (written: number) => void },
): Promise<Written> {
  const at = new Float64Array(facts);
  const writing = new Set<Promise<void>>();
  let failure: Error | undefined;
  const started = performance.now();
  for (let next = 0, turn = 0; next < facts; turn += 1) {
    const from = next;
    const to = Math.min(facts, from + (factsTogether[turn % factsTogether.length] ?? 1));
    const early = started + (from / rate) * 1000 - performance.now();
    if (early > 1) await sleep(early);
    while (writing.size >= mostAtWork) await Promise.race(writing);
    if (failure !== undefined) throw failure;
    const batch = Array.from({ length: to - from }, (_, index) => positionFactOf(1 + from + index));
    const transaction = boxoffice
      .transaction(async (tx) => {
        await tx.publish(topics.positionChanged, batch);
        at.fill(now(), from, to);
      })
      .catch((error: unknown) => {
        failure = new Error("a fact could not be written", { cause: error });
      })
      .finally(() => writing.delete(transaction));
    writing.add(transaction);
    next = to;
    onWritten(next);
  }
  await Promise.all(writing);
  if (failure !== undefined) throw failure;
  return { at, lastDone: now() };
}

/** Microseconds since 1970. */
function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}

async function untilArrived(checkin: Db, facts: number): Promise<void> {
  for (const until = Date.now() + longestWaitMs; Date.now() < until; await sleep(100)) {
    const { arrived } = await checkin.one<{ arrived: number }>(sql`
      select count(*) as arrived
        from position
       where position.organizer = ${place.organizer}
         and position.event = ${place.event}`);
    if (arrived >= facts) return;
  }
  throw new Error("not every fact had its effect within two minutes");
}

/** In the order of writing. */
async function readDelays(
  checkin: Db,
  { warming, writtenAt }: { warming: number; writtenAt: Float64Array },
): Promise<number[]> {
  const rows = await checkin.many<{ id: number; at: number }>(sql`
    select position.id, (extract(epoch from pg_xact_commit_timestamp(position.xmin)) * 1000000)::bigint as at
      from position
     where position.organizer = ${place.organizer}
       and position.event = ${place.event}
       and position.id > ${warming}
     order by position.id`);
  return rows.map(({ id, at }) => (at - (writtenAt[id - 1] ?? Number.NaN)) / 1000);
}
