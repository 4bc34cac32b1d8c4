import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { foldCounts, mostFolded } from "../store/voucher-counts.ts";

/** Often enough that a busy event is the sum of thousands of rows, not of millions. */
const everyMs = 3000;

/** Folds the rows that counts are summed from. Any number of replicas may do it at a time. */
export function compactCounts({ db }: { readonly db: Db }): Job {
  return {
    name: "compact-counts",
    everyMs,
    async run(signal) {
      while (!signal.aborted && (await foldCounts(db)) >= mostFolded);
    },
  };
}
