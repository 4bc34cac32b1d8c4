import { foldForSearch } from "@tessera/values";

/** Enough to tell names apart, and short enough for an index. */
const mostCharacters = 100;

/** Letters with a stroke and ligatures: Unicode decomposition does not reduce them to plain letters. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ł: "l", ø: "o", đ: "d", ð: "d", ħ: "h", ŧ: "t" },
  ...{ æ: "ae", œ: "oe", þ: "th" },
};

/** The sort key of a name, without accents: people look for Özil under O. Null: the ticket has no name. */
export function toSortName(name: string | null | undefined): string | null {
  const plain = foldForSearch(name ?? "")
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[łøđðħŧæœþ]/g, (letter) => plainLetters[letter] ?? letter);
  const letters = [...plain.normalize("NFC")].slice(0, mostCharacters);
  return letters.length === 0 ? null : letters.join("");
}
