import { escapeLike } from "@tessera/values";
import { normalizeCode } from "./normalize-code.ts";

export interface SearchPlan {
  /** LIKE patterns with wildcards escaped; at least one must match, regardless of letter case. */
  readonly patterns: readonly string[];
  /** Whether the trigram index can find the text. */
  readonly isIndexed: boolean;
  /** Fields are separated by line breaks: a match of such a text may span two fields. */
  readonly hasLineBreak: boolean;
}

/** Trigrams are of three letters or digits in a row. */
const indexed = /[\p{L}\p{N}]{3}/u;

/** Plans a search. Codes are stored in upper case, and a letter may have several upper cases. */
export function planSearch(search: string): SearchPlan {
  const capitals = normalizeCode(search);
  const isOther = capitals.toLowerCase() !== search.toLowerCase();
  return {
    patterns: (isOther ? [search, capitals] : [search]).map((text) => `%${escapeLike(text)}%`),
    isIndexed: indexed.test(search),
    hasLineBreak: search.includes("\n"),
  };
}
