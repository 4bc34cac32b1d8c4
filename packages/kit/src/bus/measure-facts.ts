import type { Clock } from "../clock.ts";
import type { Job } from "../jobs/interval.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { keepSample } from "../sample.ts";
import type { Bus, Delivery } from "./bus.ts";
import { header } from "./headers.ts";

/** Often enough to see an outage begin, seldom enough to cost nothing. */
const everyMs = 5000;

/** Nobody needs to know how many more there are, and counting them all would take as long as their number. */
const mostCounted = 10_000;

const microsPerSecond = 1_000_000;

/** Tells how far the facts of one service are from where they belong. */
export interface FactMeter {
  /** Samples what the metrics tell; a scrape only reads it. */
  readonly job: Job;
  /** Runs a delivery, and knows while it lasts how old its oldest fact is. */
  during<T>(topic: string, messages: readonly Delivery[], deliver: () => Promise<T>): Promise<T>;
}

/** Declares the metrics of a service's facts: what waits in its outbox, what it has still to accept, what it has parked. */
export function measureFacts(options: {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  group: string;
  consumes: readonly string[];
}): FactMeter {
  const { db, bus, clock, log, metrics, group } = options;
  const underWay = new Map<string, Set<{ readonly since: number }>>();
  const outbox = keepSample<{ waiting: number; seconds: number }>(clock);
  const parked = keepSample<ReadonlyMap<string, number>>(clock);
  const backlog = keepSample<ReadonlyMap<string, number>>(clock);

  metrics.gauge(
    "facts_waiting",
    `Facts in the outbox that the bus has not taken; ${mostCounted} stands for any more.`,
    () => outbox.read().waiting,
    { service: group },
  );
  metrics.gauge(
    "facts_waiting_seconds",
    "How long the oldest fact has been in the outbox.",
    () => outbox.read().seconds,
    { service: group },
  );
  for (const topic of options.consumes) {
    const labels = { service: group, topic };
    metrics.gauge(
      "facts_backlog",
      "Facts on the bus that the service has not accepted.",
      () => backlog.read().get(topic) ?? 0,
      labels,
    );
    metrics.gauge(
      "facts_backlog_seconds",
      "How long ago the oldest fact was written that this process is accepting.",
      () => ageOfOldest(topic),
      labels,
    );
    declareParked(topic);
  }

  function declareParked(topic: string): void {
    metrics.gauge(
      "facts_parked",
      `Facts that the service could not act on; ${mostCounted} stands for any more.`,
      () => parked.read().get(topic) ?? 0,
      { service: group, topic },
    );
  }

  function ageOfOldest(topic: string): number {
    const oldest = Math.min(...[...(underWay.get(topic) ?? [])].map(({ since }) => since));
    return Math.max(0, (clock.now() - oldest) / microsPerSecond);
  }

  async function sample(): Promise<void> {
    const outcomes = await Promise.allSettled([
      readOutbox(db).then(outbox.keep),
      readParked(db, group).then((counts) => {
        for (const topic of counts.keys()) if (!options.consumes.includes(topic)) declareParked(topic);
        parked.keep(counts);
      }),
      bus.backlog().then((all) => {
        const ours = all.filter((each) => each.group === group);
        backlog.keep(new Map(ours.map(({ topic, messages }) => [topic, messages])));
      }),
    ]);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") log.warn("facts could not be measured", { error: outcome.reason });
  }

  return {
    job: { name: "measure-facts", everyMs, run: sample },
    async during(topic, messages, deliver) {
      const delivery = { since: writtenAt(messages[0]) ?? clock.now() };
      const all = underWay.get(topic) ?? new Set();
      underWay.set(topic, all.add(delivery));
      try {
        return await deliver();
      } finally {
        all.delete(delivery);
      }
    },
  };
}

/** The first of a delivery is the oldest, or nearly. */
function writtenAt(message: Delivery | undefined): number | undefined {
  const text = message?.headers[header.writtenAt] ?? message?.headers[header.at];
  const at = text === undefined ? message?.place?.storedAt : Number(text);
  return Number.isSafeInteger(at) ? at : undefined;
}

async function readOutbox(db: Db): Promise<{ waiting: number; seconds: number }> {
  const { waiting, micros } = await db.one<{ waiting: number; micros: number }>(sql`
    select (select count(*) from (select from outbox limit ${mostCounted}) as counted) as waiting,
           coalesce((select extract(epoch from clock_timestamp() - outbox.created_at) * ${microsPerSecond}
                       from outbox
                      order by outbox.id
                      limit 1), 0)::bigint as micros`);
  return { waiting, seconds: Math.max(0, micros / microsPerSecond) };
}

async function readParked(db: Db, group: string): Promise<Map<string, number>> {
  const rows = await db.many<{ topic: string; count: number }>(sql`
    select counted.topic, count(*) as count
      from (select dead_letter.topic
              from dead_letter
             where dead_letter.consumer = ${group} || ' ' || dead_letter.topic
             limit ${mostCounted}) as counted
     group by counted.topic`);
  return new Map(rows.map(({ topic, count }) => [topic, count]));
}
