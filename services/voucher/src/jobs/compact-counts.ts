import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { compactIncrements } from "../store/voucher-counts.ts";

/** Enough for the busiest seconds, few enough to be quick. */
const rowsAtATime = 20_000;

/** Compacts the increments of counts. Replicas may run it concurrently. */
export function compactCounts({ db }: { readonly db: Db }): Job {
  return {
    name: "compact-counts",
    // Often enough that a busy event sums thousands of rows, not millions.
    everyMs: 3000,
    async run(signal) {
      while (!signal.aborted && (await compactIncrements(db, { most: rowsAtATime })) >= rowsAtATime);
    },
  };
}
