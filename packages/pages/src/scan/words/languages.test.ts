import { describe, expect, it } from "vitest";
import { chooseLanguage, fillIn } from "../../ui/words/choose-language.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { languages } from "./languages.ts";

describe("[G4.1] the words of the page", () => {
  it("are complete in German, with the same names in braces", () => {
    expect(Object.keys(de)).toEqual(Object.keys(en));
    const namesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
    for (const [word, text] of Object.entries(en)) {
      const german = de[word as keyof typeof de];
      expect(german, word).not.toBe("");
      // Where a word needs none of the names, its sentence says it without.
      expect(namesIn(german), word).toEqual(namesIn(text));
    }
  });

  it.each([
    [["de-AT", "en"], "de"],
    [["fr", "de"], "de"],
    [["EN_us"], "en"],
    [["fr"], "en"],
    [["constructor"], "en"],
    [[], "en"],
  ])("for a browser that wants %j are those of %s", (wanted, language) => {
    expect(chooseLanguage(languages, wanted)).toBe(language);
    expect(Object.keys(languages)).toContain(language);
  });

  it("have values in the place of names", () => {
    expect(fillIn("{name}, {time}, {other}", { name: "A", time: 5 })).toBe("A, 5, {other}");
  });
});
