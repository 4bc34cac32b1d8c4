import type { Job } from "@tessera/kit/jobs";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex } from "../store/positions.ts";

/** A search walks through what waits: at 10 000 new tickets a second, a megabyte by then. */
const everyMs = 100;

/** Puts what new tickets brought to the search in its place, beside the facts that bring more. Replicas take turns. */
export function keepSearchMerged(db: Db): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeSearchIndex(db) };
}
