import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from "@prometheus-io/client";
import { waitAtMost } from "./wait-at-most.ts";

/** A value for each label of a metric. Values come from short closed lists: every combination is a series that is kept for good. */
type Labels<L extends string> = Readonly<Record<L, string>>;

/** The labels come first; a metric without labels takes none. */
type Labelled<L extends string, Rest extends readonly unknown[]> = [L] extends [never]
  ? Rest
  : [labels: Labels<L>, ...rest: Rest];

export interface Counter<L extends string = never> {
  /** Adds to the count; one when no amount is given. */
  add(...args: Labelled<L, [amount?: number]>): void;
}

export interface Gauge {
  set(value: number): void;
}

export interface Histogram<L extends string = never> {
  observe(...args: Labelled<L, [value: number]>): void;
}

/**
 * The metrics of a process. Every name gets the prefix `tessera_`. Declaring a
 * metric again gives the same one, because several services may share a process.
 */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** `collect` is asked at every scrape; where it fails or takes too long, the series is missing instead of stale. `labels` tell this series from others of the name. */
  gauge(
    name: string,
    help: string,
    collect?: () => number | Promise<number>,
    labels?: Readonly<Record<string, string>>,
  ): Gauge;
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
  /** All metrics in Prometheus' text format. */
  exposition(): Promise<string>;
  readonly contentType: string;
}

const prefix = "tessera_";

/** Well below the ten seconds after which Prometheus gives a scrape up. */
const longestCollectMs = 2000;

/** Makes the metrics of a process, beside what Node tells of itself: memory, event loop lag, garbage collection, handles. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const declared = new Map<string, { readonly shape: string; readonly metric: unknown }>();

  /** Gives the metric of this name, made on first use. */
  function declare<M>(name: string, shape: string, make: (fullName: string) => M): M {
    if (name.startsWith(prefix)) throw new Error(`name the metric ${name} without ${prefix}, which it gets anyway`);
    const known = declared.get(name);
    if (known === undefined) {
      const metric = make(prefix + name);
      declared.set(name, { shape, metric });
      return metric;
    }
    if (known.shape !== shape)
      throw new Error(`the metric ${name} is declared twice, as ${known.shape} and as ${shape}`);
    // The shape tells the kind, and the kind the type.
    return known.metric as M;
  }

  return {
    counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
      const counter = declare(name, `counter(${[...labels].sort().join()})`, (fullName) => {
        return new PromCounter<string>({ name: fullName, help, labelNames: labels, registers: [registry] });
      });
      return { add: (...args: readonly unknown[]) => counter.inc(...(args as [Labels<L>, number?])) };
    },
    gauge(name, help, collect, labels = {}) {
      const names = Object.keys(labels);
      const gauge = declare(name, `gauge(${names.sort().join()})`, (fullName) =>
        makeGauge(registry, fullName, help, names),
      );
      if (collect !== undefined)
        gauge.collectors.set(JSON.stringify(names.map((label) => labels[label])), { labels, collect });
      return { set: (value) => gauge.metric.set(labels, value) };
    },
    histogram<L extends string = never>(
      name: string,
      help: string,
      labels: readonly L[],
      buckets: readonly number[],
    ): Histogram<L> {
      const shape = `histogram(${[...labels].sort().join()}; ${buckets.join()})`;
      const histogram = declare(name, shape, (fullName) => {
        return new PromHistogram<string>({
          name: fullName,
          help,
          labelNames: labels,
          buckets: [...buckets],
          registers: [registry],
        });
      });
      return { observe: (...args: readonly unknown[]) => histogram.observe(...(args as [Labels<L>, number])) };
    },
    exposition: async () => (await Promise.all([registry.metrics(), processRegistry().metrics()])).join("\n"),
    contentType: registry.contentType,
  };
}

interface Collector {
  readonly labels: Readonly<Record<string, string>>;
  collect(): number | Promise<number>;
  /** The answer that is still awaited: one that hangs is not asked again and again. */
  running?: Promise<number>;
}

interface CollectedGauge {
  readonly metric: PromGauge<string>;
  readonly collectors: Map<string, Collector>;
}

function makeGauge(registry: Registry, name: string, help: string, labelNames: readonly string[]): CollectedGauge {
  const collectors = new Map<string, Collector>();
  const metric = new PromGauge<string>({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      await Promise.all(Array.from(collectors.values(), (collector) => collectOne(metric, collector)));
    },
  });
  return { metric, collectors };
}

async function collectOne(metric: PromGauge<string>, collector: Collector): Promise<void> {
  try {
    collector.running ??= Promise.resolve()
      .then(() => collector.collect())
      .finally(() => {
        delete collector.running;
      });
    metric.set(
      collector.labels,
      await waitAtMost(longestCollectMs, collector.running, () => new Error("not collected in time")),
    );
  } catch {
    metric.remove(collector.labels);
  }
}

let ofProcess: Registry | undefined;

/** There is one process, however many metrics are made in it; each observation of it would cost again. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}
