import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FontFace } from "../browser/print-job.ts";
import type { FontFamily } from "../domain/font-chain.ts";

/** Upright or italic, regular or bold. */
export interface LetterStyle {
  readonly isBold: boolean;
  readonly isItalic: boolean;
}

/** A part of a family: some characters in one style. */
interface CatalogueFace extends FontFace {
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

/** Packages have every family in parts, and style sheets that say which characters are in which. */
const packages = {
  "Open Sans": ["@fontsource/open-sans", "400.css", "400-italic.css", "700.css", "700-italic.css"],
  "Noto Sans": ["@fontsource/noto-sans", "400.css", "400-italic.css", "700.css", "700-italic.css"],
  "Noto Sans Arabic": ["@fontsource/noto-sans-arabic", "400.css", "700.css"],
  "Noto Sans Thai": ["@fontsource/noto-sans-thai", "400.css", "700.css"],
  // One file has all weights.
  "Noto Sans SC": ["@fontsource-variable/noto-sans-sc", "index.css"],
  "Noto Sans JP": ["@fontsource-variable/noto-sans-jp", "index.css"],
  "Noto Sans KR": ["@fontsource-variable/noto-sans-kr", "index.css"],
  // The parts of this package print nothing; its whole file prints colours.
  "Noto Color Emoji": ["@fontsource/noto-color-emoji", "emoji-400.css"],
} as const satisfies Record<FontFamily, readonly string[]>;

/** Finds the parts of fonts that texts need. */
export interface FontCatalogue {
  /** The faces for all characters of a text; a character that no font has needs none. */
  facesFor(text: string, chain: readonly FontFamily[], style: LetterStyle): ReadonlySet<FontFace>;
}

export function openFontCatalogue(): FontCatalogue {
  const families = new Map<FontFamily, readonly CatalogueFace[]>();
  const chosen = new Map<string, Map<string, FontFace | undefined>>();

  function facesOf(family: FontFamily): readonly CatalogueFace[] {
    const known = families.get(family);
    if (known !== undefined) return known;
    const [name, ...sheets] = packages[family];
    const root = dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
    const faces = sheets.flatMap((sheet) => readSheet(readFileSync(join(root, sheet), "utf8"), { family, root }));
    families.set(family, faces);
    return faces;
  }

  function choose(letter: string, chain: readonly FontFamily[], style: LetterStyle): FontFace | undefined {
    const code = letter.codePointAt(0) ?? 0;
    for (const family of isEmoji(letter) ? (["Noto Color Emoji"] as const) : chain) {
      if (family === "Noto Color Emoji" && !/[\p{Extended_Pictographic}\p{Emoji_Component}]/u.test(letter)) continue;
      const faces = facesOf(family).filter(({ ranges }) =>
        ranges.some(([first, last]) => first <= code && code <= last),
      );
      const [best] = faces.sort((one, other) => misfit(one, style) - misfit(other, style));
      if (best !== undefined) return best;
    }
    return undefined;
  }

  return {
    facesFor(text, chain, style) {
      const key = `${style.isBold ? "b" : ""}${style.isItalic ? "i" : ""} ${chain.join()}`;
      const known = chosen.get(key) ?? new Map<string, FontFace | undefined>();
      chosen.set(key, known);
      const faces = new Set<FontFace>();
      for (const letter of new Set(text)) {
        if (!known.has(letter)) known.set(letter, choose(letter, chain, style));
        const face = known.get(letter);
        if (face !== undefined) faces.add(face);
      }
      return faces;
    },
  };
}

/** Characters that are coloured unless a text says otherwise, and those that make others coloured. */
function isEmoji(letter: string): boolean {
  return letter === "\ufe0f" || letter === "\u20e3" || /\p{Emoji_Presentation}/u.test(letter);
}

function misfit(face: CatalogueFace, style: LetterStyle): number {
  const isWeightWrong = face.isBold !== style.isBold && !face.weight.includes(" ");
  return (isWeightWrong ? 2 : 0) + (face.isItalic === style.isItalic ? 0 : 1);
}

function readSheet(
  css: string,
  { family, root }: { readonly family: FontFamily; readonly root: string },
): CatalogueFace[] {
  return Array.from(css.matchAll(/@font-face\s*\{([^}]+)\}/g), ([, rule = ""]) => {
    const read = (property: string) => new RegExp(`${property}:\\s*([^;]+)`).exec(rule)?.[1]?.trim();
    const [, file = ""] = /url\((\.\/files\/[^)]+\.woff2)\)/.exec(rule) ?? [];
    const unicodeRange = read("unicode-range") ?? "U+0-10FFFF";
    const [weight = "400", style = "normal"] = [read("font-weight"), read("font-style")];
    return {
      id: `${family} ${file}`,
      family,
      weight,
      style,
      unicodeRange,
      path: join(root, file),
      isBold: weight === "700",
      isItalic: style === "italic",
      ranges: unicodeRange.split(",").map(readRange),
    };
  });
}

function readRange(text: string): readonly [first: number, last: number] {
  const [first = "", last = first] = text.trim().replace(/^U\+/i, "").split("-");
  // A question mark stands for any digit.
  return [Number.parseInt(first.replaceAll("?", "0"), 16), Number.parseInt(last.replaceAll("?", "F"), 16)];
}
