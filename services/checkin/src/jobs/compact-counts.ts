import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { compactIncrements, mostCompacted } from "../store/counts.ts";
import { deleteOldNotes, mostNotes } from "../store/deleted-positions.ts";

/** Often enough that a busy list sums thousands of rows, not millions. */
const everyMs = 3000;

/** Compacts the increments of counts, and deletes old notes of deleted tickets. Replicas may run it concurrently. */
export function compactCounts({ db }: { readonly db: Db }): Job {
  return {
    name: "compact-counts",
    everyMs,
    async run(signal) {
      while ((await compactIncrements(db)) >= mostCompacted && !signal.aborted);
      while (!signal.aborted && (await deleteOldNotes(db)) === mostNotes);
    },
  };
}
