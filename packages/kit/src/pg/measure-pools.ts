import type { Metrics } from "../telemetry/metrics.ts";
import type { PoolState } from "./database.ts";

export function measurePools(
  metrics: Metrics,
  { service, pools }: { service: string; pools: Readonly<Record<string, { pool(): PoolState }>> },
): void {
  for (const [pool, measured] of Object.entries(pools)) {
    const labels = { service, pool };
    for (const state of ["used", "idle"] as const) {
      const read = () => measured.pool()[state];
      metrics.gauge("db_connections", "Open connections to the database.", read, { ...labels, state });
    }
    metrics.gauge(
      "db_connections_limit",
      "How many connections to the database may be open.",
      () => measured.pool().limit,
      labels,
    );
    metrics.gauge(
      "db_connections_waiting",
      "Callers that wait for a connection to the database.",
      () => measured.pool().waiting,
      labels,
    );
  }
}
