import type { Job } from "@tessera/kit/jobs";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex } from "../store/positions.ts";

/** Longer makes each merge cheaper and searches, which walk through what waits, dearer: at 2 000 new tickets a second half a megabyte. */
const everyMs = 250;

/** Puts what new tickets brought to the search in its place, beside the facts that bring more. Replicas take turns. */
export function keepSearchMerged(db: Db): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeSearchIndex(db) };
}
