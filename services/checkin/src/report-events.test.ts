import { Fault } from "@tessera/kit/fault";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { expect, it } from "vitest";
import { reportEvents } from "./report-events.ts";

it("counts failed scans from zero, so that the first one is an increase", async () => {
  const metrics = createMetrics();
  reportEvents({ log: createLog({ service: "test", destination: { write: () => {} } }), metrics });
  expect(await metrics.exposition()).toContain('tessera_checkin_scans_total{outcome="undecided",reason=""} 0\n');
});

it("a conflict of a batch, whose scans are decided one by one, is no error; what stays undecided is one", () => {
  const lines: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line: string) => void lines.push(line) } });
  const conflict = new Fault("conflict", "concurrent_change", "another change came first");
  // Each in its own process: one logs a line a second.
  for (const scans of [4, 1]) reportEvents({ log, metrics: createMetrics() }).scansFailed(conflict, scans);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(["warn", "error"]);
});
