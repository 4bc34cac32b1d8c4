import { escapeLike, foldForSearch } from "@tessera/values";

/**
 * Makes the text that a ticket is found by: folded fields, each after a line
 * break. Folding leaves no line break inside a field or a search, so a match
 * never spans two fields, and the beginning of a field can be recognized.
 *
 * Scripts without blanks have names of one or two letters, which nothing separates from what stands before them. Their
 * letters follow in pairs, each on a line of its own: there a search for so few letters finds them.
 */
export function toSearchText(fields: readonly (string | undefined)[]): string {
  const given = fields.flatMap((field) => (field === undefined || field === "" ? [] : [foldForSearch(field)]));
  const pairs = given.flatMap((field) => field.match(unseparated) ?? []).flatMap(pairsOf);
  // Buyer and attendee are often the same person.
  return [...new Set([...given, ...pairs])].map((line) => `\n${line}`).join("");
}

/** What has no blanks between its words, or, in Korean, between family name and given name. */
const unseparated =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** What begins at each letter, up to two letters long. */
function pairsOf(text: string): string[] {
  const letters = [...text];
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ""));
}

/** How to look for what was typed. */
export type SearchPlan = { readonly kind: "everything" } | Search;

/** What of tickets to look for. */
export interface Search {
  /** Short texts are looked for at the beginning of words and codes only: in the middle of words they are everywhere. */
  readonly kind: "beginnings" | "anywhere";
  readonly codePrefix: string;
  /** For LIKE over search texts, where they mean their letters alone; one of them has to match. */
  readonly patterns: readonly string[];
  /** Patterns for the index of texts; what it finds has to match the others, too. */
  readonly indexed: readonly string[];
}

/** Shorter ones have no trigram to be indexed by. */
const shortestAnywhere = 3;

/** Plans a search. */
export function planSearch(search: string | undefined): SearchPlan {
  const folded = foldForSearch(search ?? "");
  if (search === undefined || folded === "") return { kind: "everything" };
  const literal = escapeLike(folded);
  const codePrefix = search.replaceAll("\0", "");
  if ([...folded].length < shortestAnywhere) {
    const patterns = [`%\n${literal}%`, `% ${literal}%`];
    return { kind: "beginnings", codePrefix, patterns, indexed: patterns };
  }
  const mailbox = readMailbox(folded);
  const patterns = [`%${literal}%`];
  return { kind: "anywhere", codePrefix, patterns, indexed: mailbox === undefined ? patterns : [mailbox] };
}

/**
 * Half of all tickets may have the host of an e-mail address: the index is asked without it. It knows words by three letters
 * or digits in a row: without them before the sign it finds nothing faster.
 */
function readMailbox(folded: string): string | undefined {
  const [, name] = /^([^@]*[\p{L}\p{N}]{3})@./u.exec(folded) ?? [];
  return name === undefined ? undefined : `%${escapeLike(name)}@%`;
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
  const literal = escapeLike(foldForSearch(name));
  return { beginning: `\n${literal}%`, line: `\n${literal}\n%` };
}

/** Whether a search is long enough for a client that may only search. */
export function isSelective(search: string | undefined): boolean {
  return planSearch(search).kind === "anywhere";
}
