import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex } from "../store/positions.ts";

/**
 * At 2 000 new tickets a second half a megabyte waits by then. At one megabyte the statement that brings more merges it first: so
 * does a backlog, where no gate waits for a single fact, and this much at a time is cheapest.
 */
const everyMs = 250;

/** Puts what new tickets brought to the search in its place, beside the facts that bring more. Replicas take turns. */
export function keepSearchMerged({ db }: { readonly db: Db }): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeSearchIndex(db) };
}
