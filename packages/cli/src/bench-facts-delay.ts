import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "@tessera/kit/bus/bus";
import { startRelay } from "@tessera/kit/bus/relay";
import type { Log } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import { place, positionFactOf } from "./bench-facts-material.ts";
import type { Progress } from "./progress.ts";

/** How long facts took from their commit to their effect, in milliseconds. */
export interface Delays {
  readonly facts: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Compilers and caches are warm by then. */
const warmSeconds = 5;

/** Orders of this many positions, in turn. */
const orderSizes = [1, 2, 3, 2];

/** A machine that cannot keep up with the rate falls behind it, and the figures say so. */
const mostAtWork = 200;

const longestWaitMs = 120_000;

/**
 * Writes position facts at a steady rate as boxoffice does, an order to a transaction, moved by its relay in the same
 * process; whoever is late does not slow down those behind him. A fact's time runs from the moment before its commit
 * is sent to the time that PostgreSQL gave the commit of its effect.
 */
export async function measureDelays(options: {
  url: string;
  bus: Bus;
  checkin: Db;
  /** The ids of the positions begin behind this one. */
  after: number;
  rate: number;
  seconds: number;
  log: Log;
  progress: Progress;
}): Promise<Delays> {
  const { url, bus, checkin, after, rate, seconds, log, progress } = options;
  const boxoffice = openDatabase({
    url,
    schema: "boxoffice",
    role: roleOf("boxoffice"),
    applicationName: "bench-boxoffice",
    log,
  });
  const relay = startRelay({ db: boxoffice, bus, log });
  try {
    const measuredFrom = after + rate * warmSeconds + 1;
    const written = await writeSteadily(boxoffice, {
      first: after + 1,
      facts: rate * (warmSeconds + seconds),
      rate,
      onWritten: (count) => progress.update(`facts from commit to effect… ${count} written`),
    });
    const took = (written.lastDone - (written.at.get(measuredFrom) ?? Number.NaN)) / 1_000_000;
    await untilArrived(checkin, { after, facts: written.at.size });
    const delays = await readDelays(checkin, { measuredFrom, writtenAt: written.at });
    return {
      facts: delays.length,
      perSecond: delays.length / took,
      p50: quantile(delays, 0.5),
      p99: quantile(delays, 0.99),
      max: delays.at(-1) ?? Number.NaN,
    };
  } finally {
    await relay.stop();
    await boxoffice.close();
  }
}

/** A fact as boxoffice has it when it publishes: the position is encoded already, because it is stored so. */
interface Prepared {
  readonly key: string;
  readonly payload: Uint8Array;
}

const stored: Topic<Prepared> = {
  ...topics.positionChanged,
  key: ({ key }) => key,
  encode: ({ payload }) => payload,
  decode: () => {
    throw new Error("this topic is only written here");
  },
};

function prepare(id: number): Prepared {
  const fact = positionFactOf(id);
  return { key: topics.positionChanged.key(fact), payload: topics.positionChanged.encode(fact) };
}

async function writeSteadily(
  boxoffice: Db,
  {
    first,
    facts,
    rate,
    onWritten,
  }: { first: number; facts: number; rate: number; onWritten: (written: number) => void },
): Promise<{ at: ReadonlyMap<number, number>; lastDone: number }> {
  const prepared = Array.from({ length: facts }, (_, index) => prepare(first + index));
  const at = new Map<number, number>();
  const writing = new Set<Promise<void>>();
  let failure: Error | undefined;
  const started = performance.now();
  for (let next = 0, order = 0; next < facts; order += 1) {
    const size = Math.min(orderSizes[order % orderSizes.length] ?? 1, facts - next);
    const early = started + (next / rate) * 1000 - performance.now();
    if (early > 1) await sleep(early);
    while (writing.size >= mostAtWork) await Promise.race(writing);
    if (failure !== undefined) throw failure;
    const ids = Array.from({ length: size }, (_, index) => first + next + index);
    const batch = prepared.slice(next, next + size);
    const transaction = boxoffice
      .transaction(async (tx) => {
        await tx.publish(stored, batch);
        const written = now();
        for (const id of ids) at.set(id, written);
      })
      .catch((error: unknown) => {
        failure = new Error("a fact could not be written", { cause: error });
      })
      .finally(() => writing.delete(transaction));
    writing.add(transaction);
    next += size;
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

async function untilArrived(checkin: Db, { after, facts }: { after: number; facts: number }): Promise<void> {
  for (const until = Date.now() + longestWaitMs; Date.now() < until; await sleep(100)) {
    const { arrived } = await checkin.one<{ arrived: number }>(sql`
      select count(*) as arrived
        from position
       where position.organizer = ${place.organizer}
         and position.event = ${place.event}
         and position.id > ${after}`);
    if (arrived >= facts) return;
  }
  throw new Error("not every fact had its effect within two minutes");
}

async function readDelays(
  checkin: Db,
  { measuredFrom, writtenAt }: { measuredFrom: number; writtenAt: ReadonlyMap<number, number> },
): Promise<number[]> {
  const rows = await checkin.many<{ id: number; at: number }>(sql`
    select position.id, (extract(epoch from pg_xact_commit_timestamp(position.xmin)) * 1000000)::bigint as at
      from position
     where position.organizer = ${place.organizer}
       and position.event = ${place.event}
       and position.id >= ${measuredFrom}`);
  return rows.map(({ id, at }) => (at - (writtenAt.get(id) ?? Number.NaN)) / 1000).sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
