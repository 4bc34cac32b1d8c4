import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { expect, it } from "vitest";
import { reportEvents } from "./report-events.ts";

it("counts failed scans from zero, so that the first one is an increase", async () => {
  const metrics = createMetrics();
  reportEvents({ log: createLog({ service: "test", destination: { write: () => {} } }), metrics });
  expect(await metrics.exposition()).toContain('tessera_checkin_scans_total{outcome="undecided",reason=""} 0\n');
});
