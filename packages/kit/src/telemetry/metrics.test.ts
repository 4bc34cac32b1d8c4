import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMetrics, type Metrics } from "./metrics.ts";

/** The samples of one of our metrics, by labels. */
async function samples(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const lines = (await metrics.exposition()).split("\n").filter((line) => line.startsWith(`tessera_${name}`));
  return Object.fromEntries(
    lines.map((line) => {
      const [series = "", value] = line.slice("tessera_".length).split(/ (?=[^ ]*$)/);
      return [series, Number(value)];
    }),
  );
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a counter", () => {
  it("counts by labels", async () => {
    const metrics = createMetrics();
    const scans = metrics.counter("scans_total", "Scans decided.", ["outcome", "reason"]);
    scans.add({ outcome: "refused", reason: "unpaid" });
    scans.add({ outcome: "refused", reason: "unpaid" }, 4);
    scans.add({ outcome: "refused", reason: 'say "no"\n' }, 0);
    expect(await samples(metrics, "scans_total")).toEqual({
      'scans_total{outcome="refused",reason="unpaid"}': 5,
      'scans_total{outcome="refused",reason="say \\"no\\"\\n"}': 0,
    });
  });

  it("without labels begins at zero", async () => {
    const metrics = createMetrics();
    const started = metrics.counter("started_total", "Starts.");
    expect(await samples(metrics, "started_total")).toEqual({ started_total: 0 });
    started.add();
    started.add(2);
    expect(await samples(metrics, "started_total")).toEqual({ started_total: 3 });
  });

  it("declared again is the same one", async () => {
    const metrics = createMetrics();
    metrics.counter("facts_total", "Facts.", ["service", "topic"]).add({ service: "a", topic: "t" });
    metrics.counter("facts_total", "Facts.", ["topic", "service"]).add({ service: "a", topic: "t" });
    expect(await samples(metrics, "facts_total")).toEqual({ 'facts_total{service="a",topic="t"}': 2 });
  });

  it("declared differently is refused", () => {
    const metrics = createMetrics();
    metrics.counter("facts_total", "Facts.", ["service"]);
    expect(() => metrics.counter("facts_total", "Facts.", ["topic"])).toThrow(
      "the metric facts_total is declared twice",
    );
    expect(() => metrics.gauge("facts_total", "Facts.", () => 1)).toThrow("the metric facts_total is declared twice");
  });

  it("is named without its prefix", () => {
    expect(() => createMetrics().counter("tessera_scans_total", "Scans.")).toThrow("without tessera_");
  });

  it("takes its labels and no others", () => {
    const metrics = createMetrics();
    const plain = metrics.counter("plain_total", "Plain.", []);
    // @ts-expect-error it has no labels
    expect(() => plain.add({ reason: "unpaid" })).toThrow("reason");
    const labelled = metrics.counter("labelled_total", "Labelled.", ["reason"]);
    // @ts-expect-error the label is missing
    expect(() => labelled.add({ other: "unpaid" })).toThrow("other");
  });
});

describe("a gauge", () => {
  it("asks at every scrape, one series for each set of labels", async () => {
    const metrics = createMetrics();
    let waiting = 7;
    metrics.gauge("waiting", "Waiting.", () => waiting, { service: "checkin" });
    metrics.gauge("waiting", "Waiting.", async () => 1, { service: "voucher" });
    expect(await samples(metrics, "waiting")).toEqual({
      'waiting{service="checkin"}': 7,
      'waiting{service="voucher"}': 1,
    });
    waiting = 8;
    expect(await samples(metrics, "waiting")).toMatchObject({ 'waiting{service="checkin"}': 8 });
  });

  it("asks the last one that declared the series", async () => {
    const metrics = createMetrics();
    metrics.gauge("waiting", "Waiting.", () => 1, { service: "checkin" });
    metrics.gauge("waiting", "Waiting.", () => 2, { service: "checkin" });
    expect(await samples(metrics, "waiting")).toEqual({ 'waiting{service="checkin"}': 2 });
  });

  it("is missing, not stale, while it cannot be told, and spoils nothing else", async () => {
    const metrics = createMetrics();
    let away = false;
    const tell = () => {
      if (away) throw new Error("database away");
      return 4;
    };
    metrics.gauge("waiting", "Waiting.", tell);
    metrics.gauge("queued", "Queued.", async () => tell(), { service: "a" });
    metrics.counter("other_total", "Other.").add();
    expect(await samples(metrics, "waiting")).toEqual({ waiting: 4 });
    away = true;
    expect(await samples(metrics, "waiting")).toEqual({});
    expect(await samples(metrics, "queued")).toEqual({});
    expect(await samples(metrics, "other")).toEqual({ other_total: 1 });
    away = false;
    expect(await samples(metrics, "queued")).toEqual({ 'queued{service="a"}': 4 });
  });

  it("that hangs is waited for two seconds, and is not asked again before it answers", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const metrics = createMetrics();
    const answer = Promise.withResolvers<number>();
    const collect = vi.fn<() => Promise<number>>(() => answer.promise);
    metrics.gauge("waiting", "Waiting.", collect);
    for (let scrape = 0; scrape < 3; scrape += 1) {
      const scraped = samples(metrics, "waiting");
      await vi.advanceTimersByTimeAsync(2000);
      expect(await scraped).toEqual({});
    }
    expect(collect).toHaveBeenCalledTimes(1);
    answer.resolve(9);
    expect(await samples(metrics, "waiting")).toEqual({ waiting: 9 });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a histogram", () => {
  it("counts in its buckets", async () => {
    const metrics = createMetrics();
    const seconds = metrics.histogram("render_seconds", "Rendering.", ["kind"], [0.1, 1]);
    for (const value of [0.05, 0.5, 0.6, 5]) seconds.observe({ kind: "pdf" }, value);
    expect(await samples(metrics, "render_seconds")).toEqual({
      'render_seconds_bucket{le="0.1",kind="pdf"}': 1,
      'render_seconds_bucket{le="1",kind="pdf"}': 3,
      'render_seconds_bucket{le="+Inf",kind="pdf"}': 4,
      'render_seconds_sum{kind="pdf"}': 6.15,
      'render_seconds_count{kind="pdf"}': 4,
    });
  });

  it("may go without labels, and keeps its buckets", async () => {
    const metrics = createMetrics();
    metrics.histogram("batch_rows", "Rows.", [], [10]).observe(3);
    expect(await samples(metrics, "batch_rows_count")).toEqual({ batch_rows_count: 1 });
    expect(() => metrics.histogram("batch_rows", "Rows.", [], [20])).toThrow("declared twice");
  });
});

describe("the exposition", () => {
  it("tells of the process, the lag of its event loop above all", async () => {
    const metrics = createMetrics();
    await metrics.exposition();
    await sleep(30);
    const until = performance.now() + 200;
    while (performance.now() < until);
    await sleep(30);
    const text = await metrics.exposition();
    expect(Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(0.1);
    for (const name of [
      "process_resident_memory_bytes",
      "process_cpu_seconds_total",
      "nodejs_heap_size_used_bytes",
      "nodejs_active_resources",
    ]) {
      expect(text).toMatch(new RegExp(`^${name}(\\{.*\\})? [0-9.e+]+$`, "m"));
    }
  });

  it("is text in which every line can be read and no metric appears twice", async () => {
    const metrics = createMetrics();
    metrics.counter("a_total", "Help with \\ and\nline.", ["l"]).add({ l: "\ud800 🎪" });
    const text = await metrics.exposition();
    expect(text.endsWith("\n")).toBe(true);
    for (const line of text.split("\n"))
      expect(line).toMatch(/^(|# (HELP|TYPE) .*|[a-z_0-9:]+(\{.*\})? (NaN|[-+0-9.e]+|\+Inf))$/i);
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(new Set(names).size).toBe(names.length);
    expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it("of two registries knows nothing of each other", async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.counter("a_total", "A.").add();
    expect(await samples(other, "a_total")).toEqual({});
  });
});
