import { describe, expect, it } from "vitest";
import { zoneOf } from "../testing/decisions.ts";
import { en, type TextName } from "./texts/en.ts";
import { languages } from "./texts/languages.ts";
import { findWording } from "./wording.ts";

const names = Object.keys(en) as TextName[];
const blanksOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe("the texts of explanations", () => {
  it("[C4.35] are complete in German", () => {
    expect(names.filter((name) => !languages["de"]?.[name]?.trim())).toEqual([]);
  });

  it.each(Object.entries(languages))("in %s have the blanks of the English ones, and no others", (_, texts) => {
    for (const [name, text] of Object.entries(texts))
      expect(blanksOf(text), name).toEqual(blanksOf(en[name as TextName]));
  });

  it.each(Object.keys(languages))("%s has dates and numbers of its own", (language) => {
    expect(Intl.DateTimeFormat.supportedLocalesOf(language)).toEqual([language]);
  });
});

describe("the wording of a locale", () => {
  it.each([
    ["en", "en"],
    ["de", "de"],
    ["de-informal", "de"],
    ["de_AT", "de"],
    ["DE", "de"],
    ["fr", "en"],
    ["constructor", "en"],
    ["", "en"],
  ])("[C4.35] %j is in %s", (locale, language) => {
    expect(findWording(locale).language).toBe(language);
  });

  it("[C4.35] writes times, days, numbers and alternatives as the language does", () => {
    const at = Date.UTC(2026, 10, 21, 17, 5) * 1000;
    const zone = zoneOf("Europe/Berlin");
    const written = (locale: string) => {
      const wording = findWording(locale);
      const days = wording.anyOf([1, 3, 7].map((day) => wording.weekday(day)));
      return [wording.moment(at, zone), wording.clock(at, zone), wording.number(1234.5), days];
    };
    expect(written("en")).toEqual(["2026-11-21 18:05", "18:05", "1234.5", "Monday, Wednesday, or Sunday"]);
    expect(written("de")).toEqual(["21.11.2026, 18:05", "18:05", "1234,5", "Montag, Mittwoch oder Sonntag"]);
  });

  it("fills in a value as it is", () => {
    expect(findWording("en").say("valid_from", { time: "$& {time}" })).toBe("Valid from $& {time}.");
  });
});
