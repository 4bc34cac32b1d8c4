import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { stopSharedPlatform } from "./test-platform.ts";

const tests = fileURLToPath(new URL("..", import.meta.url));
const suites = globSync("*/*.e2e.test.ts", { cwd: tests }).sort();

/** Suites that speak of one process, and why. All others run here once more, on one process per service. */
const aboutOneProcess: Readonly<Record<string, string>> = {
  "e2e/compose-file.e2e.test.ts": "starts docs/compose.yaml, which has one process",
  "e2e/doctor.e2e.test.ts": "examines a local start",
  "e2e/ended-benchmark.e2e.test.ts": "ends a benchmark, which starts its own processes",
  "e2e/first-start.e2e.test.ts": "follows README.md to `npm start`",
  "e2e/local-start.e2e.test.ts": "starts `serve all` with its own database",
  "e2e/metrics-and-traces.e2e.test.ts": "compares the documentation with one scrape of all services",
  "e2e/one-server.e2e.test.ts": "follows the page about one server",
  "e2e/shop-to-gate.e2e.test.ts": "follows pages that begin with a local start",
  "failure/database-away.e2e.test.ts": "freezes the database of `serve all`",
  "failure/orderly-stop.e2e.test.ts": "stops `serve all` under requests",
  "failure/process-killed.e2e.test.ts": "kills `serve all`",
  "failure/render-killed.e2e.test.ts": "kills `serve all` while it draws",
  "failure/two-processes.e2e.test.ts": "starts `serve all` twice on one database",
  "failure/uploads-killed.e2e.test.ts": "kills `serve all` while scanners upload",
  "failure/wrong-clock.e2e.test.ts": "changes the clock of its own process",
};

// They share a platform, each with an organizer of its own.
afterAll(stopSharedPlatform);

for (const suite of suites.filter((name) => aboutOneProcess[name] === undefined))
  describe(suite, () => import(join(tests, suite)));

for (const [suite, reason] of Object.entries(aboutOneProcess))
  it(suite, ({ skip }) => {
    expect(suites).toContain(suite);
    skip(reason);
  });
