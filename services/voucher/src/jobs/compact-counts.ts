import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { compactIncrements, mostCompacted } from "../store/voucher-counts.ts";

/** Often enough that a busy event sums thousands of rows, not millions. */
const everyMs = 3000;

/** Compacts the increments of counts. Replicas may run it concurrently. */
export function compactCounts({ db }: { readonly db: Db }): Job {
  return {
    name: "compact-counts",
    everyMs,
    async run(signal) {
      while (!signal.aborted && (await compactIncrements(db)) >= mostCompacted);
    },
  };
}
