import type { Clock } from "../clock.ts";
import type { Job } from "../jobs/interval.ts";
import type { Db } from "../pg/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { keepSample } from "../telemetry/sample.ts";
import type { Bus, Delivery } from "./bus.ts";
import { header } from "./headers.ts";
import { countDeadLetters } from "./operators.ts";
import { readOutbox } from "./outbox-rows.ts";

/** Often enough to show the begin of an outage, rarely enough to cost nothing. */
const everyMs = 5000;

/** Higher numbers are of no use, and counting them would take long. */
const mostCounted = 10_000;

const microsPerSecond = 1_000_000;

/** Measures the facts of one service that are not accepted yet. */
export interface FactMeter {
  /** Takes the samples; a scrape only reads them. */
  readonly job: Job;
  /** Runs a delivery, and measures the age of its oldest fact meanwhile. */
  during<T>(topic: string, messages: readonly Delivery[], deliver: () => Promise<T>): Promise<T>;
}

/** Declares the metrics of a service's facts: those in its outbox, those that it has not accepted, its dead letters. */
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
  const deadLetters = keepSample<ReadonlyMap<string, number>>(clock);
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
    declareDeadLetters(topic);
  }

  function declareDeadLetters(topic: string): void {
    metrics.gauge(
      "facts_parked",
      `Facts that the service could not act on, or that the bus refused; ${mostCounted} stands for any more.`,
      () => deadLetters.read().get(topic) ?? 0,
      { service: group, topic },
    );
  }

  function ageOfOldest(topic: string): number {
    const oldest = Math.min(...[...(underWay.get(topic) ?? [])].map(({ since }) => since));
    return Math.max(0, (clock.now() - oldest) / microsPerSecond);
  }

  async function sample(): Promise<void> {
    const outcomes = await Promise.allSettled([
      readOutbox(db, { atMost: mostCounted }).then(outbox.keep),
      countDeadLetters(db, { group, atMost: mostCounted }).then((counts) => {
        for (const { topic } of counts) if (!options.consumes.includes(topic)) declareDeadLetters(topic);
        deadLetters.keep(new Map(counts.map(({ topic, count }) => [topic, count])));
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

/** The first message of a delivery is the oldest, or almost. */
function writtenAt(message: Delivery | undefined): number | undefined {
  const text = message?.headers[header.writtenAt] ?? message?.headers[header.at];
  const at = text === undefined ? message?.place?.storedAt : Number(text);
  return Number.isSafeInteger(at) ? at : undefined;
}
