import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { forgetEndedHolds, mostForgotten } from "../store/holds.ts";

const minuteMs = 60_000;

/** Deletes holds that ended long ago. Replicas may run it concurrently. */
export function forgetHolds({ db }: { readonly db: Db }): Job {
  return {
    name: "forget-holds",
    everyMs: 15 * minuteMs,
    async run(signal) {
      while (!signal.aborted && (await forgetEndedHolds(db)) === mostForgotten);
    },
  };
}
