import type { Log } from "@tessera/kit/telemetry/log";
import type { EventKey } from "./store/keys.ts";

/** Log lines of what happens here. */
export type BatchEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log }: { readonly log: Log }) {
  return {
    batchAsked({ organizer, event }: EventKey, job: string, amount: number): void {
      log.info("batch asked for", { organizer, event, job, amount });
    },
    batchCanceled({ organizer, event }: EventKey, batch: number, canceled: number): void {
      log.info("batch canceled", { organizer, event, batch, canceled });
    },
  };
}
