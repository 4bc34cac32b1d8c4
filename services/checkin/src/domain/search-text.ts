import { escapeLike, foldForSearch } from "@tessera/values";

/**
 * Makes the text that a ticket is found by: folded fields, each after a line break. Folding leaves no line break inside
 * a field or a search, so a match never spans two fields, and the beginning of a field can be recognized.
 *
 * Scripts without blanks have names of one or two letters. Their letters are indexed as bigrams, each on a line of its
 * own, so that a search for one or two letters finds them.
 */
export function toSearchText(fields: readonly (string | undefined)[]): string {
  const given = fields.flatMap((field) => (field === undefined || field === "" ? [] : [foldForSearch(field)]));
  const pairs = given.flatMap((field) => field.match(unseparated) ?? []).flatMap(pairsOf);
  // Buyer and attendee are often the same person.
  return [...new Set([...given, ...pairs])].map((line) => `\n${line}`).join("");
}

/** Letters of scripts that put no blank between words, or, in Korean, between family name and given name. */
const unseparated =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** The bigrams of a text, and its last letter alone. */
function pairsOf(text: string): string[] {
  const letters = [...text];
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ""));
}

export type SearchPlan = { readonly kind: "everything" } | Search;

/** What of tickets to look for. */
export interface Search {
  /**
   * Texts shorter than a trigram match only at the beginning of words and codes: inside words they match everywhere.
   */
  readonly kind: "beginnings" | "anywhere";
  readonly codePrefix: string;
  /** LIKE patterns with wildcards escaped; at least one of them must match the search text. */
  readonly patterns: readonly string[];
  /** LIKE patterns for the trigram index; the tickets that it finds must match `patterns`, too. */
  readonly indexed: readonly string[];
}

/** Shorter texts have no trigram to be indexed by. */
const shortestAnywhere = 3;

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
 * The domain of an e-mail address may occur in half of all tickets, so the trigram index is asked for the mailbox
 * alone. A mailbox without three letters or digits in a row has no trigram: the index would not help.
 */
function readMailbox(folded: string): string | undefined {
  const [, name] = /^([^@]*[\p{L}\p{N}]{3})@./u.exec(folded) ?? [];
  return name === undefined ? undefined : `%${escapeLike(name)}@%`;
}

/** LIKE patterns that find exactly one name in search texts. */
export interface NamePlan {
  /** The name at the beginning of the text: finds a few more tickets. */
  readonly beginning: string;
  /** The name followed by a line break. */
  readonly line: string;
}

/** Plans to find tickets by name: the name is the first line of the search text, if the ticket has a name. */
export function planName(name: string): NamePlan {
  const literal = escapeLike(foldForSearch(name));
  return { beginning: `\n${literal}%`, line: `\n${literal}\n%` };
}

/** Whether a search is long enough for a client that may only search. */
export function isSelective(search: string | undefined): boolean {
  return planSearch(search).kind === "anywhere";
}
