import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeLike, foldForSearch } from "./search-text.ts";

describe("foldForSearch", () => {
  it.each<readonly [string, string]>([
    ["Müller", "MÜLLER"],
    ["Mu\u0308ller", "M\u00fcller"],
    ["Straße", "STRASSE"],
    ["STRAẞE", "strasse"],
    ["Ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ"],
    ["ΣΊΣΥΦΟΣ", "σίσυφοσ"],
    ["İstanbul", "istanbul"],
    ["ISPARTA", "ısparta"],
    ["ＡＢＣ１２３", "abc123"],
    ["ﬁn", "FIN"],
    ["ｶﾞ", "ガ"],
    ["a\u00a0b", "a b"],
    ["A\u0000B\u001fC\u007f", "abc"],
    ["AB\u200b\u200d\ufeffCD", "abcd"],
    ["Main St\r\nBerlin", "main st  berlin"],
    ["e\u0323\u0302", "\u1ec7"],
    ...["\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212", "\uff0d", "\ufe63", "\u2015"].map(
      (dash) => [`Jean${dash}Luc`, "Jean-Luc"] as const,
    ),
    ...["\u2019", "\u2018", "\u201b", "\u02bc", "\u02bb", "\u00b4", "\u0060", "\u2032", "\uff07", "\u1ffd"].map(
      (mark) => [`O${mark}Brien`, "o'brien"] as const,
    ),
    ...["„Pit“", "“Pit”", "«Pit»", "\u2033Pit\u2033", "＂Pit＂"].map((quoted) => [quoted, '"pit"'] as const),
    ...["\u00a0", "\u2009", "\u202f", "\u3000", "\u1680", "\u2028", "\t"].map(
      (space) => [`Anna${space}Maria`, "anna maria"] as const,
    ),
  ])("folds %j and %j to the same", (left, right) => {
    expect(foldForSearch(left)).toBe(foldForSearch(right));
  });

  it.each([
    ["Łódź", "łódź"],
    ["Zoë", "zoë"],
    ["", ""],
    ["ABC-12 x", "abc-12 x"],
    ["👩‍🎤", "👩🎤"],
    ["ラーメン", "ラーメン"],
  ])("makes %j %j", (text, expected) => {
    expect(foldForSearch(text)).toBe(expected);
  });

  it("keeps accents apart", () => {
    expect(foldForSearch("Muller")).not.toBe(foldForSearch("Müller"));
  });

  const anyText = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc
      .array(
        fc.constantFrom(
          "I",
          "i",
          "İ",
          "ı",
          "\u0307",
          "\u0301",
          "\u0323",
          "ß",
          "ẞ",
          "Σ",
          "ς",
          "\u200d",
          "\n",
          "\u1ffd",
          "\u2033",
          "\uff40",
          " ",
        ),
      )
      .map((parts) => parts.join("")),
  );

  it("folds composed and decomposed text to the same", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldForSearch(text);
        expect(foldForSearch(text.normalize("NFC"))).toBe(folded);
        expect(foldForSearch(text.normalize("NFD"))).toBe(folded);
      }),
      { numRuns: 2000 },
    );
  });

  it("changes nothing when applied again, and leaves no control character", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldForSearch(text);
        expect(foldForSearch(folded)).toBe(folded);
        expect(folded).not.toMatch(/\p{Cc}/u);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a pattern", () => {
  it.each([
    ["a letter", "ä b", "ä b"],
    ["signs of patterns", "50%_\\", "50\\%\\_\\\\"],
  ])("means its letters alone: %s", (_, text, pattern) => {
    expect(escapeLike(text)).toBe(pattern);
  });
});
