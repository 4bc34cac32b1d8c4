import { escapeLike, foldTypography } from "@tessera/values";
import { normalizeCode } from "./normalize-code.ts";

export interface SearchPlan {
  /** LIKE patterns with wildcards escaped; at least one must match, regardless of letter case. */
  readonly patterns: readonly string[];
  /** The same for texts as they are stored, with any character where typography may differ: they find a few more. */
  readonly loosely: readonly string[];
  /** Whether the trigram index can find the text. */
  readonly isIndexed: boolean;
  /** Fields are separated by line breaks: a match of such a text may span two fields. */
  readonly hasLineBreak: boolean;
}

/** Trigrams are of three letters or digits in a row. */
const indexed = /[\p{L}\p{N}]{3}/u;

/** Plans a search. Codes are stored in upper case, and a letter may have several upper cases. */
export function planSearch(sent: string): SearchPlan {
  const search = foldTypography(sent);
  const capitals = normalizeCode(search);
  const isOther = capitals.toLowerCase() !== search.toLowerCase();
  const patterns = (isOther ? [search, capitals] : [search]).map((text) => `%${escapeLike(text)}%`);
  return {
    patterns,
    loosely: patterns.map((pattern) => pattern.replace(/['" -]/g, "_")),
    isIndexed: indexed.test(search),
    hasLineBreak: search.includes("\n"),
  };
}
