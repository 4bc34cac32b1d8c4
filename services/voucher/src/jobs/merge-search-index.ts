import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { mergeSearchIndex as mergeIndex } from "@tessera/kit/pg/merge-search-index";

/**
 * Large merges cost less per voucher. An insert merges the GIN pending list itself when a hundred thousand are in it.
 */
const everyMs = 3000;

/** Merges the pending list of the search index, in one replica at a time. */
export function mergeSearchIndex({ db }: { readonly db: Db }): Job {
  return { name: "merge-search-index", everyMs, run: () => mergeIndex(db, "voucher_by_text") };
}
