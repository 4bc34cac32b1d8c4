import { describe, expect, it } from "vitest";
import { pick } from "./localized.ts";

const names = { fr: "Billet", en: "Ticket", de: "Karte", "de-informal": "Kärtchen" };

describe("pick", () => {
  it.each([
    ["the exact locale", names, "de-informal", [], "Kärtchen"],
    ["the language of the locale", names, "de-at", [], "Karte"],
    ["the language of a locale with underscore", names, "fr_CA", [], "Billet"],
    ["the language before a fallback", names, "de-at", ["fr"], "Karte"],
    ["another variety of the language", { en: "Ticket", "de-informal": "Kärtchen" }, "de-at", [], "Kärtchen"],
    ["the locale in other letters", { en: "Ticket", "zh-Hans": "票" }, "zh-hans", [], "票"],
    ["the first fallback that has a text", names, "nl", ["it", "fr", "de"], "Billet"],
    ["the language of a fallback", names, "nl", ["fr-be"], "Billet"],
    ["English before the rest", names, "nl", [], "Ticket"],
    ["the first text that is none of these", { it: "", es: "Entrada", pt: "Bilhete" }, "nl", [], "Entrada"],
    ["no empty text", { de: "", en: "Ticket" }, "de", [], "Ticket"],
    ["a text of one sign", { de: "–", en: "Ticket" }, "de", [], "–"],
    ["nothing of nothing", {}, "de", ["en"], ""],
    ["nothing of empty texts", { de: "", en: "" }, "de", [], ""],
    ["no property of the object's own machinery", names, "constructor", ["toString", "__proto__"], "Ticket"],
  ])("takes %s", (_name, localized, locale, fallbacks, expected) => {
    expect(pick(localized, locale, fallbacks)).toBe(expected);
  });

  it.each([" ", "\u00a0", "\n\t", "\u200b", "\u2060\ufeff", "\u00ad", "\u3164", "\u2800", "\u0000"])(
    "takes no text without a visible letter: %j",
    (blank) => {
      expect(pick({ de: blank, "de-at": blank, "de-ch": blank, en: "Ticket" }, "de-at")).toBe("Ticket");
      expect(pick({ en: blank, it: blank, es: "Entrada" }, "de")).toBe("Entrada");
      expect(pick({ en: blank }, "en")).toBe("");
    },
  );
});
