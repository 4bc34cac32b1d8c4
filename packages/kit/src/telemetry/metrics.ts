import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from "@prometheus-io/client";
import { waitAtMost } from "../waiting/wait-at-most.ts";

/** A value for each label of a metric. Values are snake case where the name of the value is ours, and come from short closed lists: every combination is a series that never ends. */
type Labels<L extends string> = Readonly<Record<L, string>>;

/** The labels come first; a metric without labels takes none. */
type Labelled<L extends string, Rest extends readonly unknown[]> = [L] extends [never]
  ? Rest
  : [labels: Labels<L>, ...rest: Rest];

type CounterName = `${string}_total`;

export interface Counter<L extends string = never> {
  /** Adds to the count, by default one. */
  add(...args: Labelled<L, [amount?: number]>): void;
}

export interface Histogram<L extends string = never> {
  observe(...args: Labelled<L, [value: number]>): void;
}

/**
 * The metrics of a process. Every name gets the prefix `tessera_`. A second declaration returns the same metric, because
 * several services may share a process.
 */
export interface Metrics {
  /** Prometheus tells a counter by the end of its name. */
  counter<L extends string = never>(name: CounterName, help: string, labels?: readonly L[]): Counter<L>;
  /** `collect` is called at every scrape. When it fails or takes too long, the series is missing and not stale. `labels` make the series of one name distinct. */
  gauge(
    name: string,
    help: string,
    collect: () => number | Promise<number>,
    labels?: Readonly<Record<string, string>>,
  ): void;
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

/** Well below ten seconds, the timeout of a scrape by Prometheus. */
const longestCollectMs = 2000;

/** Makes the metrics of a process. Node's own are added: memory, event loop lag, garbage collection, handles. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const declared = new Map<string, { readonly shape: string; readonly metric: unknown }>();

  /** Returns the metric of this name; `make` makes it on first use. */
  function declare<M>(name: string, shape: string, make: (named: Named) => M): M {
    if (name.startsWith(prefix)) throw new Error(`name the metric ${name} without ${prefix}, which it gets anyway`);
    const known = declared.get(name);
    if (known === undefined) {
      const metric = make({ name: prefix + name, registers: [registry] });
      declared.set(name, { shape, metric });
      return metric;
    }
    if (known.shape !== shape)
      throw new Error(`the metric ${name} is declared twice, as ${known.shape} and as ${shape}`);
    // The shape has the kind, which decides the type.
    return known.metric as M;
  }

  return {
    counter<L extends string = never>(name: CounterName, help: string, labels: readonly L[] = []): Counter<L> {
      const shape = `counter(${labels.toSorted().join()})`;
      const counter = declare(name, shape, (named) => new PromCounter<string>({ ...named, help, labelNames: labels }));
      return { add: (...args: readonly unknown[]) => counter.inc(...(args as [Labels<L>, number?])) };
    },
    gauge(name, help, collect, labels = {}) {
      const names = Object.keys(labels).sort();
      const collectors = declare(name, `gauge(${names.join()})`, (named) =>
        makeGauge({ ...named, help, labelNames: names }),
      );
      collectors.set(JSON.stringify(names.map((label) => labels[label])), { labels, collect });
    },
    histogram<L extends string = never>(
      name: string,
      help: string,
      labels: readonly L[],
      buckets: readonly number[],
    ): Histogram<L> {
      const shape = `histogram(${labels.toSorted().join()}; ${buckets.join()})`;
      const histogram = declare(name, shape, (named) => {
        return new PromHistogram<string>({ ...named, help, labelNames: labels, buckets: [...buckets] });
      });
      return { observe: (...args: readonly unknown[]) => histogram.observe(...(args as [Labels<L>, number])) };
    },
    exposition: async () => (await Promise.all([registry.metrics(), processRegistry().metrics()])).join("\n"),
    contentType: registry.contentType,
  };
}

interface Named {
  readonly name: string;
  readonly registers: [Registry];
}

interface Collector {
  readonly labels: Readonly<Record<string, string>>;
  collect(): number | Promise<number>;
  /** The call under way: one that hangs is not repeated. */
  running?: Promise<number>;
}

/** Registers a gauge, and returns the map that its series are added to. */
function makeGauge(options: Named & { help: string; labelNames: readonly string[] }): Map<string, Collector> {
  const collectors = new Map<string, Collector>();
  const metric = new PromGauge<string>({
    ...options,
    async collect() {
      await Promise.all(Array.from(collectors.values(), (collector) => collectOne(metric, collector)));
    },
  });
  return collectors;
}

async function collectOne(metric: PromGauge<string>, collector: Collector): Promise<void> {
  try {
    collector.running ??= Promise.resolve()
      .then(() => collector.collect())
      .finally(() => {
        delete collector.running;
      });
    const late = () => new Error("not collected in time");
    metric.set(collector.labels, await waitAtMost(longestCollectMs, collector.running, late));
  } catch {
    metric.remove(collector.labels);
  }
}

let ofProcess: Registry | undefined;

/** The metrics of Node, made once for the process: each further set would measure, and cost, the same again. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}
