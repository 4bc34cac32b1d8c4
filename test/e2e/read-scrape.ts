/** A metric as a scrape shows it. */
export interface Scraped {
  readonly type: string;
  /** Undefined while nothing was measured. */
  readonly labels?: readonly string[];
  /** The values of its labels, each once. */
  readonly values: readonly { readonly label: string; readonly value: string }[];
}

/** Reads Prometheus' text format. */
export function readScrape(text: string): Map<string, Scraped> {
  const metrics = new Map<string, Scraped>();
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffix = type === "histogram" ? "(?:_bucket|_sum|_count)" : "";
    const samples = [...text.matchAll(new RegExp(`^${name}${suffix}(?:\\{(.*)\\})? \\S+$`, "gm"))];
    const pairs = samples.flatMap(([, labels = ""]) =>
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", value = ""]) => ({ label, value })),
    );
    const values = [...new Map(pairs.map((pair) => [`${pair.label} ${pair.value}`, pair])).values()];
    // The bounds of buckets are no label of ours.
    const named = values.filter(({ label }) => label !== "le");
    const labels = [...new Set(named.map(({ label }) => label))];
    metrics.set(name, { type, values: named, ...(samples.length > 0 ? { labels } : {}) });
  }
  return metrics;
}
