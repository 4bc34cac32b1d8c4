import { foldForSearch } from "@tessera/values";

/** Enough to tell names apart, and little enough for an index. */
const mostCharacters = 100;

/** Letters with a stroke and double letters, which have no accent that could be left out. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ł: "l", ø: "o", đ: "d", ð: "d", ħ: "h", ŧ: "t" },
  ...{ æ: "ae", œ: "oe", þ: "th" },
};

/**
 * What a ticket is sorted by among others by name; null for one without a name. People look for Özil under O.
 */
export function toSortName(name: string | null | undefined): string | null {
  const plain = foldForSearch(name ?? "")
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[łøđðħŧæœþ]/g, (letter) => plainLetters[letter] ?? letter);
  const letters = [...plain.normalize("NFC")].slice(0, mostCharacters);
  return letters.length === 0 ? null : letters.join("");
}
