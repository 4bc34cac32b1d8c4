import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex as mergeIndex } from "@tessera/kit/pg/merge-search-index";

/**
 * A merge of many vouchers costs less for each. The pending list has room for a hundred thousand, and an insert that finds
 * it full merges it first.
 */
const everyMs = 3000;

/** Merges the pending list of the search index. Replicas do it one after the other. */
export function mergeSearchIndex({ db }: { readonly db: Db }): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeIndex(db, "voucher_by_text") };
}
