import { defineWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";

/** Sales of jobs that ended with their event. */
export interface EndedSales {
  readonly organizer: string;
  readonly event: string;
  readonly sales: readonly string[];
}

const hourMs = 3_600_000;

/** Sales that are canceled in the event that got the name: one piece of work for each deletion. */
export const cancelEnded = defineWork<EndedSales, void>("cancel ended sales", {
  payload: json(),
  result: nothing,
  leaseMs: 30_000,
  tries: untilDone,
  keepMs: hourMs,
  atOnce: 4,
  atOnceEach: 2,
});
