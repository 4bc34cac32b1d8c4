import { profaneWords } from "@2toad/profanity";

const digitsAsLetters: Readonly<Record<string, string>> = { 3: "E", 4: "A", 5: "S", 7: "T", 8: "B" };

/** The languages of the list that are written in Latin letters. */
const languages = ["en", "de", "es", "fr", "it", "pt"];

/** Shorter ones are not words. */
const shortestWord = 3;

/** No code has an I or O, which look like digits. */
const canOccur = /^[A-HJ-NP-Z2-9]+$/;

const words = new Set(
  languages
    .flatMap((language) => profaneWords.get(language) ?? [])
    .map((word) => word.toUpperCase())
    .filter((word) => word.length >= shortestWord && canOccur.test(word))
    .map(readAsLetters),
);

const offensive = new RegExp([...words].join("|"));

/** Tells whether a code in capital letters has an offensive word in it, also where a digit is read as a letter. */
export function isOffensive(code: string): boolean {
  return offensive.test(readAsLetters(code));
}

function readAsLetters(text: string): string {
  return text.replaceAll(/[34578]/g, (digit) => digitsAsLetters[digit] ?? digit);
}
