import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { EventKey } from "./store/keys.ts";

/** Log lines and counters of what happens here. */
export type LayoutEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }) {
  const changes = metrics.counter("layout_changes_total", "Layouts created, changed, assigned, deleted or imported.", [
    "change",
  ]);
  const report =
    (change: string) =>
    ({ organizer, event }: EventKey, layout: number): void => {
      changes.add({ change });
      log.info(`layout ${change}`, { organizer, event, layout });
    };
  return {
    layoutCreated: report("created"),
    layoutChanged: report("changed"),
    layoutAssigned: report("assigned"),
    layoutDeleted: report("deleted"),
    layoutsImported(count: number): void {
      if (count > 0) changes.add({ change: "imported" }, count);
    },
  };
}
