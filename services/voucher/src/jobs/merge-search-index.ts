import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex } from "@tessera/kit/pg/merge-search-index";

/**
 * A merge of many vouchers costs less for each. The pending list has room for a hundred thousand, and an insert that finds
 * it full merges it first.
 */
const everyMs = 3000;

/** Merges the pending list of the search index. Replicas do it one after the other. */
export function keepSearchMerged({ db }: { readonly db: Db }): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeSearchIndex(db, "voucher_by_text") };
}
