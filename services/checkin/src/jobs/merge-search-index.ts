import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex as mergeIndex } from "@tessera/kit/pg/merge-search-index";

/**
 * At 2 000 new tickets a second, the GIN pending list grows to half a megabyte in this time. At one megabyte an insert
 * merges it instead, which happens in a backlog, where no gate waits and large merges are cheapest.
 */
const everyMs = 250;

/** Merges the pending list of the search index while facts arrive, in one replica at a time. */
export function mergeSearchIndex({ db }: { readonly db: Db }): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeIndex(db, "position_by_search_text") };
}
