import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FontFace } from "../browser/print-job.ts";
import type { FontFamily } from "../domain/drawing/font-chain.ts";
import { readCoverage } from "./read-coverage.ts";

/** Upright or italic, regular or bold. */
export interface LetterStyle {
  readonly isBold: boolean;
  readonly isItalic: boolean;
}

/** A subset of a family: some characters in one style. */
interface CatalogueFace extends FontFace {
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly has: (character: number) => boolean;
}

/** A family in complete files, one per style: a combining mark is placed right only if one file has mark and letter. */
interface Whole {
  readonly package: string;
  readonly styles: readonly string[];
}

/** A family in subsets, each with all weights, and the style sheet that lists the characters of each subset. */
interface Parts {
  readonly package: string;
  readonly sheet: string;
  /** The sheet claims no more than the font has: reading ten megabytes of pictures would block the event loop. */
  readonly isExact?: true;
}

const regular = ["400Regular"];
const upright = [...regular, "700Bold"];
const withItalics = [...upright, "400Regular_Italic", "700Bold_Italic"];

const packages: Readonly<Record<FontFamily, Whole | Parts>> = {
  "Open Sans": { package: "@expo-google-fonts/open-sans", styles: withItalics },
  "Noto Sans": { package: "@expo-google-fonts/noto-sans", styles: withItalics },
  "Noto Sans Arabic": { package: "@expo-google-fonts/noto-sans-arabic", styles: upright },
  "Noto Sans Armenian": { package: "@expo-google-fonts/noto-sans-armenian", styles: upright },
  "Noto Sans Bengali": { package: "@expo-google-fonts/noto-sans-bengali", styles: upright },
  "Noto Sans Canadian Aboriginal": {
    package: "@fontsource-variable/noto-sans-canadian-aboriginal",
    sheet: "index.css",
  },
  "Noto Sans Cherokee": { package: "@fontsource-variable/noto-sans-cherokee", sheet: "index.css" },
  "Noto Sans Ethiopic": { package: "@expo-google-fonts/noto-sans-ethiopic", styles: upright },
  "Noto Sans Georgian": { package: "@expo-google-fonts/noto-sans-georgian", styles: upright },
  "Noto Sans Gujarati": { package: "@expo-google-fonts/noto-sans-gujarati", styles: upright },
  "Noto Sans Gurmukhi": { package: "@expo-google-fonts/noto-sans-gurmukhi", styles: upright },
  "Noto Sans Kannada": { package: "@expo-google-fonts/noto-sans-kannada", styles: upright },
  "Noto Sans Khmer": { package: "@expo-google-fonts/noto-sans-khmer", styles: upright },
  "Noto Sans Lao": { package: "@expo-google-fonts/noto-sans-lao", styles: upright },
  "Noto Sans Malayalam": { package: "@expo-google-fonts/noto-sans-malayalam", styles: upright },
  "Noto Sans Meetei Mayek": { package: "@fontsource-variable/noto-sans-meetei-mayek", sheet: "index.css" },
  "Noto Sans Myanmar": { package: "@expo-google-fonts/noto-sans-myanmar", styles: upright },
  "Noto Sans NKo": { package: "@expo-google-fonts/noto-sans-nko", styles: regular },
  "Noto Sans Ol Chiki": { package: "@fontsource-variable/noto-sans-ol-chiki", sheet: "index.css" },
  "Noto Sans Oriya": { package: "@expo-google-fonts/noto-sans-oriya", styles: upright },
  "Noto Sans Sinhala": { package: "@expo-google-fonts/noto-sans-sinhala", styles: upright },
  "Noto Sans Syriac": { package: "@fontsource-variable/noto-sans-syriac", sheet: "index.css" },
  "Noto Sans Tamil": { package: "@expo-google-fonts/noto-sans-tamil", styles: upright },
  "Noto Sans Telugu": { package: "@expo-google-fonts/noto-sans-telugu", styles: upright },
  "Noto Sans Thaana": { package: "@fontsource-variable/noto-sans-thaana", sheet: "index.css" },
  "Noto Sans Thai": { package: "@expo-google-fonts/noto-sans-thai", styles: upright },
  "Noto Sans Tifinagh": { package: "@expo-google-fonts/noto-sans-tifinagh", styles: regular },
  "Noto Serif Tibetan": { package: "@fontsource-variable/noto-serif-tibetan", sheet: "index.css" },
  "Noto Sans SC": { package: "@fontsource-variable/noto-sans-sc", sheet: "index.css" },
  "Noto Sans JP": { package: "@fontsource-variable/noto-sans-jp", sheet: "index.css" },
  "Noto Sans KR": { package: "@fontsource-variable/noto-sans-kr", sheet: "index.css" },
  // The subsets of this package print nothing; its complete file prints colours.
  "Noto Color Emoji": { package: "@fontsource/noto-color-emoji", sheet: "emoji-400.css", isExact: true },
};

/** Finds the parts of fonts that texts need. */
export interface FontCatalogue {
  /** The faces for all characters of a text; a character that no font has needs none. */
  facesFor(text: string, chain: readonly FontFamily[], style: LetterStyle): ReadonlySet<FontFace>;
  /** Whether no font has some of the text's characters. */
  lacksAny(text: string, chain: readonly FontFamily[], style: LetterStyle): boolean;
}

export function openFontCatalogue(): FontCatalogue {
  const families = new Map<FontFamily, readonly CatalogueFace[]>();
  const chosen = new Map<string, Map<string, FontFace | undefined>>();

  function facesOf(family: FontFamily): readonly CatalogueFace[] {
    const known = families.get(family);
    if (known !== undefined) return known;
    const source = packages[family];
    const root = dirname(fileURLToPath(import.meta.resolve(`${source.package}/package.json`)));
    const faces =
      "styles" in source
        ? source.styles.map((style) => wholeFace(style, { family, root }))
        : readSheet(readFileSync(join(root, source.sheet), "utf8"), { family, root, isExact: source.isExact === true });
    families.set(family, faces);
    return faces;
  }

  function choose(letter: string, chain: readonly FontFamily[], style: LetterStyle): FontFace | undefined {
    const code = letter.codePointAt(0) ?? 0;
    for (const family of isEmoji(letter) ? (["Noto Color Emoji"] as const) : chain) {
      if (family === "Noto Color Emoji" && !/[\p{Extended_Pictographic}\p{Emoji_Component}]/u.test(letter)) continue;
      const best = facesOf(family).toSorted((one, other) => misfit(one, style) - misfit(other, style));
      const face = best.find(({ has }) => has(code));
      if (face !== undefined) return face;
    }
    return undefined;
  }

  function finder(chain: readonly FontFamily[], style: LetterStyle): (letter: string) => FontFace | undefined {
    const key = `${style.isBold ? "b" : ""}${style.isItalic ? "i" : ""} ${chain.join()}`;
    const known = chosen.get(key) ?? new Map<string, FontFace | undefined>();
    chosen.set(key, known);
    return (letter) => {
      if (!known.has(letter)) known.set(letter, choose(letter, chain, style));
      return known.get(letter);
    };
  }

  return {
    facesFor(text, chain, style) {
      const find = finder(chain, style);
      return new Set([...new Set(text)].flatMap((letter) => find(letter) ?? []));
    },
    lacksAny(text, chain, style) {
      const find = finder(chain, style);
      return [...new Set(text)].some((letter) => isSeen(letter) && find(letter) === undefined);
    },
  };
}

function isSeen(letter: string): boolean {
  return !/[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(letter);
}

/** Characters that are coloured by default, and characters that make others coloured. */
function isEmoji(letter: string): boolean {
  return letter === "\ufe0f" || letter === "\u20e3" || /\p{Emoji_Presentation}/u.test(letter);
}

function misfit(face: CatalogueFace, style: LetterStyle): number {
  const isWeightWrong = face.isBold !== style.isBold && !face.weight.includes(" ");
  return (isWeightWrong ? 2 : 0) + (face.isItalic === style.isItalic ? 0 : 1);
}

/** The complete file of a family in one style. */
function wholeFace(
  style: string,
  { family, root }: { readonly family: FontFamily; readonly root: string },
): CatalogueFace {
  const path = join(root, style, `${family.replaceAll(" ", "")}_${style}.ttf`);
  const [isBold, isItalic] = [style.startsWith("700"), style.endsWith("Italic")];
  return {
    id: `${family} ${style}`,
    family,
    weight: isBold ? "700" : "400",
    style: isItalic ? "italic" : "normal",
    unicodeRange: "U+0-10FFFF",
    path,
    isBold,
    isItalic,
    has: coverageOf(path),
  };
}

/** Which characters a file has, read lazily. */
function coverageOf(path: string): (character: number) => boolean {
  let coverage: ReadonlySet<number> | undefined;
  return (character) => {
    coverage ??= readCoverage(readFileSync(path));
    return coverage.has(character);
  };
}

function readSheet(
  css: string,
  { family, root, isExact }: { readonly family: FontFamily; readonly root: string; readonly isExact: boolean },
): CatalogueFace[] {
  return Array.from(css.matchAll(/@font-face\s*\{([^}]+)\}/g), ([, rule = ""]) => {
    const read = (property: string) => new RegExp(`${property}:\\s*([^;]+)`).exec(rule)?.[1]?.trim();
    const [, file = ""] = /url\((\.\/files\/[^)]+\.woff2)\)/.exec(rule) ?? [];
    const ranges = read("unicode-range")?.split(",").map(readRange).flatMap(withoutEmoji) ?? [[0, 0x10ffff]];
    const [weight = "400", style = "normal"] = [read("font-weight"), read("font-style")];
    const path = join(root, file);
    const isInFile = isExact ? () => true : coverageOf(path);
    return {
      id: `${family} ${file}`,
      family,
      weight,
      style,
      unicodeRange: ranges.map(([first, last]) => `U+${first.toString(16)}-${last.toString(16)}`).join(","),
      path,
      isBold: weight === "700",
      isItalic: style === "italic",
      has: (character) =>
        ranges.some(([first, last]) => first <= character && character <= last) && isInFile(character),
    };
  });
}

type Range = readonly [first: number, last: number];

/** Other fonts have some emoji in black, and the browser would take those first. */
function withoutEmoji([first, last]: Range): Range[] {
  const parts: Range[] = [];
  let begin = first;
  for (let character = first; character <= last; character += 1) {
    if (!isEmoji(String.fromCodePoint(character))) continue;
    if (begin < character) parts.push([begin, character - 1]);
    begin = character + 1;
  }
  return begin <= last ? [...parts, [begin, last]] : parts;
}

function readRange(text: string): Range {
  const [first = "", last = first] = text.trim().replace(/^U\+/i, "").split("-");
  // A question mark stands for any digit.
  return [Number.parseInt(first.replaceAll("?", "0"), 16), Number.parseInt(last.replaceAll("?", "F"), 16)];
}
