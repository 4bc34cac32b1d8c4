import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { forgetChanges, markChanges, mostForgotten } from "../store/changes.ts";

const everyMs = 600_000;

/** A gate that was away for longer starts again with a copy. */
const keptDays = 7;

/** Deletes changes that all gates have read. Marks are removed before the changes that they stand for. */
export function forgetOldChanges({ db }: { readonly db: Db }): Job {
  return {
    name: "forget-changes",
    everyMs,
    async run(signal) {
      await markChanges(db, { keptDays });
      while (!signal.aborted && (await forgetChanges(db)) === mostForgotten);
    },
  };
}
