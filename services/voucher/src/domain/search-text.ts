import { escapeLike } from "@tessera/values";
import { normalizeCode } from "./normalize-code.ts";

/** How to look for a text. */
export interface SearchPlan {
  /** For LIKE, where they mean their letters alone; one of them has to match, in any letter case. */
  readonly patterns: readonly string[];
  /** Whether the index can find it. */
  readonly isIndexed: boolean;
  /** Fields are separated by line breaks: a match of such a text may span two of them. */
  readonly hasLineBreak: boolean;
}

/** The index has every three letters or digits in a row. */
const indexed = /[\p{L}\p{N}]{3}/u;

/** Plans a search. Codes are stored in capitals, and a letter may have several of them. */
export function planSearch(search: string): SearchPlan {
  const capitals = normalizeCode(search);
  const isOther = capitals.toLowerCase() !== search.toLowerCase();
  return {
    patterns: (isOther ? [search, capitals] : [search]).map((text) => `%${escapeLike(text)}%`),
    isIndexed: indexed.test(search),
    hasLineBreak: search.includes("\n"),
  };
}
