import { deflateSync, inflateSync } from "node:zlib";
import type { PdfObject, PdfText } from "@tessera/sent-files/pdf-objects";

/** Letters of scripts that join into clusters of glyphs: from Hebrew to Burmese, Khmer, and forms for presentation. */
const joining =
  /[\u0590-\u109f\u1780-\u17ff\u1a20-\u1cff\ua840-\ua8ff\ua9e0-\uaaff\uabc0-\uabff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether texts have letters whose clusters are to be named. */
export function hasClusters(html: string): boolean {
  return joining.test(html);
}

/** Fonts of one page, by the names that its content uses. */
type Fonts = ReadonlyMap<string, number>;

/** For the other glyphs of a cluster: nothing is no meaning for many readers, and they invent one. WORD JOINER. */
const noLetter = "2060";

/**
 * Gives glyphs of a cluster codes of their own, so that the widest one means the text of the cluster, and the others nothing.
 * The browser says that text beside them (`ActualText`), which many readers pass over, and leaves glyphs without a meaning.
 */
export class ClusterNamer {
  readonly #objects: Map<number, PdfObject>;
  readonly #fonts = new Map<number, NamedFont | undefined>();
  readonly #renamed = new Set<number>();

  constructor(objects: Map<number, PdfObject>) {
    this.#objects = objects;
  }

  /** Renames the clusters in a content stream. */
  rename(content: number, fonts: Fonts): void {
    const object = this.#objects.get(content);
    if (this.#renamed.has(content) || object?.stream === undefined || !isPacked(object)) return;
    this.#renamed.add(content);
    const before = inflateSync(object.stream).toString("latin1");
    if (!before.includes("/ActualText")) return;
    let font: NamedFont | undefined;
    const after = before.replaceAll(
      /\/(F\d+) [\d.]+ Tf|\/ActualText ?<FEFF([0-9A-F]+)>[\s\S]*?\bEMC\b/gi,
      (whole: string, _name: string | undefined, text: string | undefined) => {
        const [, name] = /\/(F\d+) [\d.]+ Tf/.exec(whole) ?? [];
        if (name !== undefined) font = this.#fontOf(fonts.get(name));
        return text === undefined || font === undefined ? whole : renameCluster(whole, text, font);
      },
    );
    this.#objects.set(content, packedStream(Buffer.from(after, "latin1")));
  }

  /** Writes the new codes into the fonts. */
  finish(): void {
    for (const font of this.#fonts.values()) font?.write(this.#objects);
  }

  #fontOf(number: number | undefined): NamedFont | undefined {
    if (number === undefined) return undefined;
    if (!this.#fonts.has(number)) this.#fonts.set(number, NamedFont.read(number, this.#objects));
    return this.#fonts.get(number);
  }
}

function renameCluster(operators: string, text: string, font: NamedFont): string {
  const glyphs = [...operators.matchAll(/<([0-9A-F]+)> Tj/gi)].flatMap(([, codes = ""]) => codes.match(/.{4}/g) ?? []);
  const widths = glyphs.map((glyph) => font.widthOf(glyph));
  const widest = widths.indexOf(Math.max(...widths));
  let index = 0;
  return operators.replaceAll(/<([0-9A-F]+)> Tj/gi, (_, codes: string) => {
    const renamed = codes.match(/.{4}/g)?.map((glyph) => font.codeOf(glyph, index++ === widest ? text : noLetter));
    return `<${(renamed ?? []).join("")}> Tj`;
  });
}

/** A font of the browser: its codes are the numbers of its glyphs. */
class NamedFont {
  readonly #read: ReadFont;
  readonly #codes = new Map<string, { readonly code: number; readonly glyph: number; readonly meaning: string }>();
  #next: number;

  private constructor(read: ReadFont) {
    this.#read = read;
    this.#next = read.glyphs;
  }

  static read(number: number, objects: ReadonlyMap<number, PdfObject>): NamedFont | undefined {
    const follow = ({ text }: PdfObject, words: string) => referenceAfter(text, words);
    const font = objects.get(number);
    const descendant = font === undefined ? undefined : follow(font, "/DescendantFonts [");
    const meanings = font === undefined ? undefined : follow(font, "/ToUnicode ");
    const described = objects.get(descendant ?? 0);
    const map = objects.get(meanings ?? 0);
    const descriptor = described === undefined ? undefined : objects.get(follow(described, "/FontDescriptor ") ?? 0);
    const file = descriptor === undefined ? undefined : objects.get(follow(descriptor, "/FontFile2 ") ?? 0);
    if (descendant === undefined || meanings === undefined || described === undefined) return undefined;
    if (map?.stream === undefined || file?.stream === undefined || !isPacked(map) || !isPacked(file)) return undefined;
    const words = asText(described.text);
    if (!words.includes("/CIDToGIDMap /Identity")) return undefined;
    return new NamedFont({
      ...{
        descendant,
        meanings,
        widths: readWidths(words),
        usualWidth: Number(/\/DW ([\d.-]+)/.exec(words)?.[1] ?? 1000),
      },
      ...{ map: inflateSync(map.stream).toString("latin1"), glyphs: countGlyphs(inflateSync(file.stream)) },
    });
  }

  widthOf(glyph: string): number {
    return Number(this.#read.widths.get(Number.parseInt(glyph, 16)) ?? this.#read.usualWidth);
  }

  codeOf(glyph: string, meaning: string): string {
    const key = `${glyph} ${meaning}`;
    const known = this.#codes.get(key);
    if (known !== undefined) return hex(known.code);
    if (this.#next > 0xffff) return glyph;
    const code = this.#next++;
    this.#codes.set(key, { code, glyph: Number.parseInt(glyph, 16), meaning });
    return hex(code);
  }

  write(objects: Map<number, PdfObject>): void {
    const { descendant, meanings, map, widths } = this.#read;
    const added = [...this.#codes.values()];
    const described = objects.get(descendant);
    if (added.length === 0 || described === undefined) return;
    const glyphs = Buffer.alloc(2 * this.#next);
    for (let code = 0; code < this.#next; code += 1) glyphs.writeUInt16BE(code, 2 * code);
    for (const { code, glyph } of added) glyphs.writeUInt16BE(glyph, 2 * code);
    const number = Math.max(...objects.keys()) + 1;
    objects.set(number, packedStream(glyphs));
    const more = added.flatMap(({ code, glyph }) => {
      const width = widths.get(glyph);
      return width === undefined ? [] : [`${code} [${width}]`];
    });
    objects.set(descendant, { text: describe(described.text, number, more.join(" ")) });
    const lines: string[] = [];
    for (let from = 0; from < added.length; from += mostLines) {
      const some = added.slice(from, from + mostLines);
      const written = some.map(({ code, meaning }) => `<${hex(code)}> <${meaning}>`);
      lines.push(`${some.length} beginbfchar`, ...written, "endbfchar");
    }
    objects.set(meanings, packedStream(Buffer.from(map.replace("endcmap", `${lines.join("\n")}\nendcmap`), "latin1")));
  }
}

/** The numbers of its objects, and what they say. */
interface ReadFont {
  readonly descendant: number;
  readonly meanings: number;
  readonly map: string;
  readonly widths: ReadonlyMap<number, string>;
  readonly usualWidth: number;
  readonly glyphs: number;
}

/** Reads how many glyphs a font has (OpenType, table `maxp`). */
function countGlyphs(font: Buffer): number {
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const at = 12 + 16 * index;
    if (font.toString("latin1", at, at + 4) === "maxp") return font.readUInt16BE(font.readUInt32BE(at + 8) + 4);
  }
  throw new Error("a font has no table maxp");
}

/** Of a section of a map. */
const mostLines = 100;

/** Reads `code [width …]` and `first last width`. */
function readWidths(text: string): Map<number, string> {
  const widths = new Map<number, string>();
  const [, all = ""] = /\/W \[((?:[^[\]]|\[[^\]]*\])*)\]/.exec(text) ?? [];
  for (const [, from = "", list, last = "", width = ""] of all.matchAll(/(\d+) (?:\[([^\]]*)\]|(\d+) ([\d.-]+))/g)) {
    const first = Number(from);
    if (list === undefined) for (let code = first; code <= Number(last); code += 1) widths.set(code, width);
    else for (const [index, each] of list.trim().split(/\s+/).entries()) widths.set(first + index, each);
  }
  return widths;
}

function describe(text: PdfText, map: number, widths: string): PdfText {
  return text.flatMap((piece) => {
    if (typeof piece === "number") return [piece];
    const [before = "", after] = piece.replace(/\/W \[/, `/W [${widths} `).split("/CIDToGIDMap /Identity");
    return after === undefined ? [before] : [`${before}/CIDToGIDMap `, map, after];
  });
}

function referenceAfter(text: PdfText, words: string): number | undefined {
  const index = text.findIndex((piece, at) => typeof piece === "number" && String(text[at - 1]).endsWith(words));
  const found = text[index];
  return typeof found === "number" ? found : undefined;
}

function asText(text: PdfText): string {
  return text.map((piece) => (typeof piece === "number" ? `${piece} 0 R` : piece)).join("");
}

function isPacked({ text }: PdfObject): boolean {
  return asText(text).includes("/Filter /FlateDecode");
}

function packedStream(content: Uint8Array): PdfObject {
  const stream = deflateSync(content);
  return { text: [`<</Filter /FlateDecode /Length ${stream.length}>>`], stream };
}

function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, "0");
}

/** The fonts that resources name. */
export function fontsIn(resources: PdfText | undefined): Fonts {
  const fonts = new Map<string, number>();
  for (const [index, piece] of (resources ?? []).entries()) {
    if (typeof piece !== "number") continue;
    const [, name] = /\/(\S+) $/.exec(String(resources?.[index - 1])) ?? [];
    if (name !== undefined) fonts.set(name, piece);
  }
  return fonts;
}
