import { foldForSearch } from "@tessera/values";

/**
 * Makes the text that a ticket is found by: folded fields, each after a line
 * break. Folding leaves no line break inside a field or a search, so a match
 * never spans two fields, and the beginning of a field can be recognized.
 */
export function toSearchText(fields: readonly (string | undefined)[]): string {
  const given = fields.filter((field) => field !== undefined && field !== "");
  // Buyer and attendee are often the same person.
  return [...new Set(given)].map((field) => `\n${foldForSearch(field ?? "")}`).join("");
}

/** How to look for what was typed. */
export type SearchPlan =
  | { readonly kind: "everything" }
  /** Too short to be looked for in the middle of words: beginnings of words and codes, and not all of them. */
  | { readonly kind: "beginnings"; readonly codePrefix: string; readonly patterns: readonly string[] }
  | { readonly kind: "anywhere"; readonly codePrefix: string; readonly pattern: string };

/** Shorter ones have no trigram to be indexed by. */
const shortestAnywhere = 3;

/** Plans a search. Patterns are for LIKE over search texts, and mean their letters alone. */
export function planSearch(search: string | undefined): SearchPlan {
  const folded = foldForSearch(search ?? "");
  if (search === undefined || folded === "") return { kind: "everything" };
  const literal = toLiteral(folded);
  const codePrefix = search.replaceAll("\0", "");
  if ([...folded].length >= shortestAnywhere) return { kind: "anywhere", codePrefix, pattern: `%${literal}%` };
  return { kind: "beginnings", codePrefix, patterns: [`%\n${literal}%`, `% ${literal}%`] };
}

/** How to look for exactly one name, with patterns for LIKE over search texts. */
export interface NamePlan {
  /** Of the text: finds a few more. */
  readonly beginning: string;
  /** Of the text with a line break behind it. */
  readonly line: string;
}

/** Plans to find tickets of this name: it is the first line of the text, if the ticket has a name. */
export function planName(name: string): NamePlan {
  const literal = toLiteral(foldForSearch(name));
  return { beginning: `\n${literal}%`, line: `\n${literal}\n%` };
}

/** Writes a text as a pattern that means its letters alone. */
function toLiteral(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** Whether a search is long enough for a client that may only search. */
export function isSelective(search: string | undefined): boolean {
  return planSearch(search).kind === "anywhere";
}
