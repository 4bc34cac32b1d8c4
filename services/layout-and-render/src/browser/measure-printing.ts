import { Fault } from "@tessera/kit/fault";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { PrintQueue } from "./print-queue.ts";

/** From a single ticket to the longest print, in seconds. */
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 5, 30];

/** Counts the pages and measures the jobs of a queue. */
export function measurePrinting(printer: PrintQueue, metrics: Metrics): PrintQueue {
  let underWay = 0;
  metrics.gauge("printing_jobs", "Jobs that wait for the browser, or are being printed.", () => underWay);
  const pages = metrics.counter("printing_pages_total", "Pages that were printed.");
  const duration = metrics.histogram(
    "printing_duration_seconds",
    "Time from the request of a print to its end.",
    ["outcome"],
    buckets,
  );
  return {
    ...printer,
    async print(job, options) {
      const started = performance.now();
      const observe = (outcome: string) => duration.observe({ outcome }, (performance.now() - started) / 1000);
      underWay += 1;
      try {
        const printed = await printer.print(job, options);
        pages.add(job.pages);
        observe("printed");
        return printed;
      } catch (error) {
        observe(error instanceof Fault ? error.code : "failed");
        throw error;
      } finally {
        underWay -= 1;
      }
    },
  };
}
