import type { Clock } from "../clock.ts";
import type { Db } from "../pg/database.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { keepSample } from "../telemetry/sample.ts";
import type { Job } from "./interval.ts";
import * as reads from "./work-reads.ts";

export interface WorkMeter {
  ended(kind: string, state: "succeeded" | "failed"): void;
  /** Looks at what waits and what is being done. */
  readonly job: Job;
}

export interface WorkMeterOptions {
  readonly db: Db;
  readonly kinds: readonly string[];
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly service: string;
}

const measuredMs = 5000;

/** Higher numbers are of no use. */
const mostCounted = 10_000;

export function measureWork({ db, kinds, clock, metrics, service }: WorkMeterOptions): WorkMeter {
  const sample = keepSample<ReadonlyMap<string, reads.Measured>>(clock);
  const counter = metrics.counter("work_ended_total", "Work that has ended, by how.", ["service", "work", "state"]);
  const ended = (kind: string, state: "succeeded" | "failed", amount = 1) =>
    counter.add({ service, work: label(kind), state }, amount);
  // Prometheus sees no increase in a series that begins above zero: the first failure would raise no alert.
  for (const kind of kinds) for (const state of ["succeeded", "failed"] as const) ended(kind, state, 0);
  const declare = (name: string, help: string, read: (measured: reads.Measured) => number) => {
    for (const kind of kinds) {
      const collect = () => {
        const measured = sample.read().get(kind);
        return measured === undefined ? 0 : read(measured);
      };
      metrics.gauge(name, help, collect, { service, work: label(kind) });
    }
  };
  declare("work_waiting", `Work that waits; ${mostCounted} stands for any more.`, ({ waiting }) => waiting);
  declare("work_running", "Work that is being done.", ({ running }) => running);
  declare(
    "work_file_bytes",
    `What files of work take that has not expired, or are expected to; of more than ${mostCounted} files so many count.`,
    ({ bytes }) => bytes,
  );
  declare("work_waiting_seconds", "How long the oldest work has been waiting.", ({ seconds }) => seconds);
  return {
    ended,
    job: {
      name: "measure-work",
      everyMs: measuredMs,
      async run() {
        const measured = await reads.measure(db, { kinds, mostCounted });
        sample.keep(new Map(measured.map((each) => [each.kind, each])));
      },
    },
  };
}

/** A kind of work as the value of a label: `render_few`. */
function label(kind: string): string {
  return kind.replaceAll(/[^a-z0-9]+/g, "_");
}
