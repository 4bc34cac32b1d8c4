import type { Log } from "@tessera/kit/telemetry/log";
import type { EventKey } from "./store/keys.ts";

/** Log lines of what happens here. */
export type LayoutEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log }: { readonly log: Log }) {
  const report =
    (change: string) =>
    ({ organizer, event }: EventKey, layout: number): void =>
      log.info(`layout ${change}`, { organizer, event, layout });
  return {
    layoutCreated: report("created"),
    layoutChanged: report("changed"),
    layoutAssigned: report("assigned"),
    layoutDeleted: report("deleted"),
  };
}
