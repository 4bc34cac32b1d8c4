import { PDFDict, PDFDocument, PDFName } from "@cantoo/pdf-lib";
import { drawPdf, readPdf, readReplacementTexts } from "@tessera/testkit/read-pdf";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { drawText } from "../domain/drawing/draw-text.ts";
import { StyleSheet } from "../domain/drawing/style-sheet.ts";
import { aCode, aContainer, anArea } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

/** The text of a page without blanks: PDF readers insert their own between pieces. */
async function readText(pdf: Buffer): Promise<string> {
  const { pages } = await readPdf(pdf);
  return pages.map(({ texts }) => texts.map(({ text }) => text).join("\n")).join("\n");
}

const squeeze = (text: string) => text.normalize("NFKC").replaceAll(/[\s\u200e\u200f\u200b]/g, "");

/** The names of fonts of a file that are not in it. */
async function findFontsOutside(pdf: Buffer): Promise<string[]> {
  const { context } = await PDFDocument.load(pdf);
  const entry = (dict: PDFDict, key: string) => dict.lookup(PDFName.of(key));
  return context.enumerateIndirectObjects().flatMap(([, font]) => {
    if (!(font instanceof PDFDict) || entry(font, "Type") !== PDFName.of("Font")) return [];
    // Fonts of type 3 are drawings in the file, and those of type 0 consist of others.
    if (["/Type3", "/Type0"].includes(String(entry(font, "Subtype")))) return [];
    const described = entry(font, "FontDescriptor");
    const isInside =
      described instanceof PDFDict &&
      ["FontFile", "FontFile2", "FontFile3"].some((key) => described.has(PDFName.of(key)));
    return isInside ? [] : [String(entry(font, "BaseFont"))];
  });
}

it("[L35.7] every font is in the file", async () => {
  const texts = ["Größe", "العربية", "漢字", "😀"].map((text) => anArea(text, { width: 180 }));
  const pdf = await renderer.renderElements([...texts, aCode("SECRET")]);
  expect(await findFontsOutside(pdf)).toEqual([]);
  expect(await readText(pdf)).toContain('"secret":"SECRET"');
});

describe("letters", () => {
  it("[L29.8] that no font has are printed in their plain form, if one has that", async () => {
    const pdf = await renderer.renderElements([anArea("𝓕𝓪𝓷𝓬𝔂 Ａ 𝐁 \u{1f130}"), aContainer("𝔻ö\u0308", { bottom: 50 })]);
    const text = squeeze(await readText(pdf));
    expect(text).toContain("Fancy");
    expect(text).toContain("Dö");
    expect(renderer.warnings).toEqual([]);
    await renderer.renderElements([anArea("\u{1d100}")]);
    expect(renderer.warnings).toMatchObject([{ code: "letters_missing" }]);
  });

  it.each(["Anna 💽", "😀😃💽"])("[L35.6] that are rare print wherever they stand: %s", async (value) => {
    expect(squeeze(await readText(await renderer.renderElements([anArea(value)])))).toBe(squeeze(value));
  });

  it.each([
    ["de", "Größe äöü ÄÖÜ ß €"],
    ["vi", "Tiếng Việt: vé vào cửa"],
    ["el", "Ελληνικά: εισιτήριο"],
    ["uk", "Кириллица: квиток Їжак"],
    ["hy", "Հայերեն տոմս"],
    ["ka", "ბილეთი"],
    ["am", "የመግቢያ ትኬት"],
    ["th", "ไทย: บัตรเข้างาน"],
    ["zh", "中文入场门票"],
    ["ja", "日本語チケット"],
    ["ko", "한국어 입장권"],
    ["en", "Emoji 🎫 🇩🇪 👍🏽"],
  ])("[L29.1] of %s can be read from the file: %s", async (language, value) => {
    for (const style of [{}, { bold: true }, { italic: true }]) {
      const text = await readText(await renderer.renderElements([anArea(value, { language, ...style, width: 180 })]));
      expect(squeeze(text)).toBe(squeeze(value));
    }
  });

  it.each([
    ["ar", "تذكرة الدخول"],
    ["he", "כרטיס כניסה"],
    ["hi", "हिन्दी: प्रवेश टिकट"],
    ["bn", "প্রবেশের টিকিট"],
    ["gu", "પ્રવેશ ટિકિટ"],
    ["kn", "ಪ್ರವೇಶ ಟಿಕೆಟ್"],
    ["km", "សំបុត្រចូល"],
    ["lo", "ປີ້ເຂົ້າ"],
    ["ml", "പ്രവേശന ടിക്കറ്റ്"],
    ["my", "ဝင်ခွင့်လက်မှတ်"],
    ["or", "ପ୍ରବେଶ ଟିକେଟ"],
    ["pa", "ਦਾਖਲਾ ਟਿਕਟ"],
    ["si", "ඇතුල්වීමේ ටිකට්"],
    ["ta", "நுழைவுச் சீட்டு"],
    ["te", "ప్రవేశ టికెట్"],
    ["bo", "བོད་སྐད། འཛུལ་ཞུགས་བྱང་བུ"],
    ["chr", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ꭳꮿꮧ"],
    ["dv", "ދިވެހި ޓިކެޓު"],
    ["iu", "ᐃᓄᒃᑎᑐᑦ"],
    ["mni", "ꯃꯩꯇꯩ ꯆꯜꯂꯤꯄꯦꯔꯩ"],
    ["nqo", "ߒߞߏ ߘߊ߬ߛߍ"],
    ["sat", "ᱥᱟᱱᱛᱟᱲᱤ ᱴᱤᱠᱮᱴ"],
    ["syr", "ܟܪܛܝܣܐ ܕܥܠܠܐ"],
    ["zgh", "ⵜⴰⵎⴰⵣⵉⵖⵜ"],
  ])(
    "[L29.1, L29.9] of %s, which are drawn in other shapes or another order, can be read from the file: %s",
    async (language, value) => {
      for (const bold of [false, true]) {
        const pdf = await renderer.renderElements([anArea(value, { language, bold, width: 180 })]);
        const read = squeeze(await readText(pdf));
        if (language === "nqo" && bold) {
          // Letters that the browser makes bold itself keep the codes that it gave them.
          for (const letter of squeeze(value)) expect(read + readReplacementTexts(pdf)).toContain(letter);
        } else {
          // By a reader that passes over `ActualText`. The order of the pieces is up to it.
          expect([...read].sort()).toEqual([...squeeze(value)].sort());
        }
        expect(renderer.warnings).toEqual([]);
      }
    },
  );

  it("[L29.9] that share glyphs are told apart, each time and on every ticket", async () => {
    const names = ["بيت", "تيب", "ثبت", "नितिन", "मिति"];
    const pdf = await renderer.render(names.map((name) => ({ elements: [anArea(name)], background: null })));
    const { pages } = await readPdf(pdf);
    const read = pages.map(({ texts }) => [...squeeze(texts.map(({ text }) => text).join(""))].sort());
    expect(read).toEqual(names.map((name) => [...name].sort()));
  });

  it.each([
    ["ar", "تذكرة الدخول"],
    ["he", "כרטיס כניסה"],
  ])("[L29.2] of %s run from right to left, and stay where the alignment has them", async (language, value) => {
    const { pages } = await readPdf(await renderer.renderElements([anArea(value, { language, width: 180 })]));
    const texts = pages[0]?.texts ?? [];
    expect(Math.min(...texts.map(({ x, width }) => Math.min(x, x + width)))).toBeCloseTo(20, 0);
    expect(Math.max(...texts.map(({ x, width }) => Math.max(x, x + width)))).toBeLessThan(80);
  });

  it("[L29.3] of a family that does not exist are those of Open Sans", async () => {
    const pdf = await renderer.renderElements([anArea("Hello", { fontFamily: "Comic Sans" })]);
    expect(pdf.toString("latin1")).toContain("OpenSans-Regular");
  });

  it.each([
    "₺23 ₽ ₴ ₦ ₱ ₩ ₿",
    "Ḑrag ʿAlī ʃ ƙ ᵗ",
    "ἄνθρωπος ᾧ",
    "← → ★ ♪ ①",
    // Combining marks without a precomposed letter in Unicode.
    "q\u0323 m\u0327 \u1e92\u030c \u0117\u0301 t\u0361s",
  ])("[L29.5] that only another font has are printed with their marks: %s", async (value) => {
    for (const style of [{}, { bold: true, italic: true }]) {
      const text = await readText(await renderer.renderElements([anArea(value, { ...style, width: 180 })]));
      expect(squeeze(text)).toBe(squeeze(value));
    }
  });

  it("[L29.6] are not joined where their script does not need it", async () => {
    const { pages } = await readPdf(await renderer.renderElements([anArea("Schifffahrt Auflage fi", { width: 180 })]));
    expect(pages[0]?.texts.map(({ text }) => text)).toEqual(["Schifffahrt Auflage fi"]);
  });

  it("[L29.7] that are emoji have colours, also beside signs of a font that has them in black", async () => {
    const { colorAt } = await drawPdf(await renderer.renderElements([anArea("⚾♞", { fontSize: 100 })]));
    const colors = Array.from({ length: 40 }, (_, step) => colorAt(20 + step, 118));
    expect(colors.some(([red = 0, , blue = 0]) => red - blue > 60)).toBe(true);
  });

  it("[L29.4] that no font has do not keep the others from being printed, and are a warning", async () => {
    const text = await readText(await renderer.renderElements([anArea("a\u{1F9FF}\u{E0080}\u{10FFFF}\0\u0007b", {})]));
    expect(text).toMatch(/^a[\s\S]*b$/);
    expect(renderer.warnings).toEqual([{ ticket: 0, element: 0, code: "letters_missing" }]);
    await renderer.renderElements([anArea("soft\u00adhyphen \u2066שלום\u2069 👩‍👩‍👧 ☀\ufe0f\t→")]);
    expect(renderer.warnings).toEqual([]);
  });
});

describe("a text", () => {
  it("[L28.1] has no markup: what looks like it is printed as it is", async () => {
    const value = `<b>bold</b> &amp; "quoted" 'too' <script>alert(1)</script> **not** {x}`;
    const text = await readText(await renderer.renderElements([anArea(value, { width: 180 })]));
    expect(squeeze(text)).toBe(squeeze(value));
  });

  it("[L28.1] never leaves its element, whatever it is", () => {
    const nasty = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "</p>",
        "<img src=x onerror=alert(1)>",
        "</style>",
        "\"'><svg/onload=x>",
        "&#60;script&#62;",
        "<!--",
        "]]>",
      ),
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 5 }), fc.string(), (parts, language) => {
        const value = parts.join("");
        const styles = new StyleSheet();
        const look = { language, isAutoresized: true, width: 1 };
        const html = drawText(aContainer(`x${value}`, look), { height: 297, mark: value, styles });
        const tags = html.match(/<[^>]*>/g) ?? [];
        const known =
          /^<(?:div class="(?:[xt]|b(?: n)?) s\d+"(?: data-fit="[^"<>]*")?|p dir="auto"(?: style="margin-top:[0-9.]+em")?|\/div|\/p|br|wbr)>$/;
        for (const tag of tags) expect(tag).toMatch(known);
        expect(html.replaceAll(/<[^>]*>/g, "")).not.toMatch(/[<>"']/);
        expect(html).toContain("data-fit=");
        for (const rule of styles.text.split("\n")) expect(rule).toMatch(/^\.s\d+\{[^<>{}]*\}$/);
      }),
    );
  });

  it("[L28.2] has single blanks, none at the ends of its lines, and keeps its empty lines", async () => {
    const { pages } = await readPdf(
      await renderer.renderElements([anArea("  one    two  \n\n \nlast", { lineHeight: 1, downward: true })]),
    );
    const [first, last] = pages[0]?.texts ?? [];
    expect(first?.text).toBe("one two");
    expect(first?.x).toBeCloseTo(20, 1);
    expect((first?.y ?? 0) - (last?.y ?? 0)).toBeCloseTo((3 * 1.15 * 12 * 25.4) / 72, 1);
  });

  it("[L28.3] may break after hyphens, and readers of the file find nothing added there", async () => {
    const value = "Meier-Schulze-Lüdenscheidt-1234-5678-90";
    const { pages } = await readPdf(await renderer.renderElements([anArea(value, { width: 40 })]));
    const lines = (pages[0]?.texts ?? []).map(({ text }) => text);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/-$/);
    expect(lines.join("")).toBe(value);
  });

  it("[L28.4] is composed: letters with marks of their own are one letter each", async () => {
    const text = await readText(await renderer.renderElements([anArea("Z\u030cofie A\u030angstro\u0308m")]));
    expect(text.replaceAll("\n", "")).toBe("Žofie Ångström");
  });

  it("[L28.5] of nothing but blanks prints nothing, and so do letters of no size", async () => {
    const pdf = await renderer.renderElements([anArea(" \n \t"), anArea("x", { fontSize: 0 })]);
    expect(await readText(pdf)).toBe("");
  });
});
