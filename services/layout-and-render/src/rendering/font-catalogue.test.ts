import { describe, expect, it } from "vitest";
import { fontChain } from "../domain/drawing/font-chain.ts";
import { openFontCatalogue } from "./font-catalogue.ts";

describe("a letter", () => {
  const fonts = openFontCatalogue();
  const style = { isBold: false, isItalic: false };
  const lacks = (text: string) => fonts.lacksAny(text, fontChain(text, "en"), style);

  it.each(["ܐ", "Ꭰ", "ހ", "ᓀ", "ꯀ", "ᱚ", "བོད", "中文", "日本", "한국", "😀", "ⵣ", "ߒ"])(
    "is in the fonts: %s",
    (text) => {
      expect([lacks(text), fonts.facesFor(text, fontChain(text, "en"), style).size > 0]).toEqual([false, true]);
    },
  );

  it.each(["\u0860", "\u0861"])("is in none, though a style sheet claims it: %j", (text) => {
    expect(lacks(text)).toBe(true);
  });
});
