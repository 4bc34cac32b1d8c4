import { expect, it } from "vitest";
import { de } from "./de.ts";
import { en } from "./en.ts";

it("[B3.8] the words of the board are complete in German, with the same names in braces", () => {
  expect(Object.keys(de)).toEqual(Object.keys(en));
  const namesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
  for (const [word, text] of Object.entries(en)) {
    const german = de[word as keyof typeof de];
    expect(german, word).not.toBe("");
    expect(namesIn(german), word).toEqual(namesIn(text));
  }
});
