import { profaneWords } from "@2toad/profanity";

/** Without letters and digits that look alike. */
const alphabet = "ABCDEFGHKLMNPQRSTUVWXYZ23456789";

const codeLength = 16;

/** Bytes from here on are left out, because the first characters would be more frequent otherwise. */
const firstUnused = 256 - (256 % alphabet.length);

/**
 * Makes codes of random bytes, about fifteen of 256. The caller draws until it has enough: codes with an offensive word
 * are left out, and no count of bytes is certain to give one.
 */
export function generateCodes(bytes: Uint8Array): string[] {
  const characters = [...bytes].flatMap((byte) =>
    byte < firstUnused ? [alphabet.charAt(byte % alphabet.length)] : [],
  );
  const count = Math.floor(characters.length / codeLength);
  const codes = Array.from({ length: count }, (_, index) =>
    characters.slice(index * codeLength, (index + 1) * codeLength).join(""),
  );
  return codes.filter((code) => !isOffensive(code));
}

const digitsAsLetters: Readonly<Record<string, string>> = { 3: "E", 4: "A", 5: "S", 7: "T", 8: "B" };

/** The languages of the list that are written in Latin letters. */
const languages = ["en", "de", "es", "fr", "it", "pt"];

/** Shorter ones are not words. */
const shortestWord = 3;

const words = new Set(
  languages
    .flatMap((language) => profaneWords.get(language) ?? [])
    .map((word) => word.toUpperCase())
    .filter((word) => word.length >= shortestWord && [...word].every((character) => alphabet.includes(character)))
    .map(readAsLetters),
);

const offensive = new RegExp([...words].join("|"));

/** Also where a digit is read as a letter. */
function isOffensive(code: string): boolean {
  return offensive.test(readAsLetters(code));
}

function readAsLetters(text: string): string {
  return text.replaceAll(/[34578]/g, (digit) => digitsAsLetters[digit] ?? digit);
}
