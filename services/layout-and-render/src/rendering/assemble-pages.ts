import { deflateSync } from "node:zlib";
import { PDFArray, type PDFDict, PDFDocument, PDFName, type PDFObject } from "@cantoo/pdf-lib";
import type { FlatPage } from "@tessera/sent-files/flatten-pdf";
import {
  objectsOf,
  type PdfObject,
  type PdfText,
  referencesIn,
  renumber,
  textOf,
} from "@tessera/sent-files/pdf-objects";
import { codeOperators, type PlacedCode } from "../domain/drawing/draw-code.ts";
import type { DrawnPage, Placed } from "../domain/drawing/draw-page.ts";
import { invisibleOperators, machineText } from "../domain/drawing/machine-text.ts";
import { bound, pointsPerMm } from "../domain/drawing/page-units.ts";
import type { PlacedPicture } from "../domain/drawing/place-picture.ts";
import type { PlainJpeg } from "../domain/drawing/plain-jpeg.ts";
import { markOperators, type PlacedMark } from "../domain/drawing/powered-by.ts";
import { markHeight, markWidth } from "../domain/drawing/powered-by-paths.ts";
import type { NamedBackground } from "./background-cache.ts";
import type { DrawnChunk } from "./draw-chunk.ts";
import { ClusterNamer, fontsIn, hasClusters } from "./name-clusters.ts";
import type { Stamp } from "./stamps.ts";
import type { PdfWriter, WrittenObject } from "./write-pdf.ts";

/** Our resource names of a page; the browser's are one letter with a number. */
const names = {
  background: "TesseraBackground",
  font: "TesseraFont",
  dark: "TesseraDark",
  white: "TesseraWhite",
  picture: "TesseraPicture",
  stamp: "TesseraText",
};

/** Merges pages: the background, what the browser has drawn, and codes. */
export class PageAssembler {
  readonly #writer: PdfWriter;
  readonly #issuer: string;
  /** By name: a file may have more backgrounds than the cache. */
  readonly #backgrounds = new Map<string, (number: number) => number>();
  readonly #shared = new Map<string, number>();
  /** Object numbers, by the numbers of stamps. */
  readonly #stamps: number[] = [];

  constructor(writer: PdfWriter, { issuer }: { readonly issuer: string }) {
    this.#writer = writer;
    this.#issuer = issuer;
  }

  /** Adds the pages of a chunk. Its stamps are its own, or of chunks that were added before. */
  async add({ pages, stamps, job }: DrawnChunk, pdf: Uint8Array | undefined): Promise<void> {
    const printed =
      pdf === undefined ? undefined : await readPrinted(pdf, { hasClusters: hasClusters(job?.html ?? "") });
    if ((printed?.pages.length ?? 0) !== (job?.pages ?? 0))
      throw new Error("the browser printed another number of pages");
    let next = 0;
    const fresh = printed === undefined ? undefined : this.#addPrinted(printed, stamps);
    for (const { background, page, drawn } of pages) {
      const form = this.#formOf(background, page);
      const sheet = drawn.html === "" ? undefined : fresh?.[next++];
      const shift = sheet === undefined ? 0 : page.height - sheet.height;
      const stamped = drawn.stamped.map(({ stamp }) => `/${names.stamp}${stamp} Do\n`);
      const before = `${form === undefined ? "" : `q /${names.background} Do Q\n`}${stamped.join("")}q 1 0 0 1 0 ${decimal(shift)} cm\n`;
      const resources = this.#resources(sheet?.resources, { form, drawn });
      const contents = [
        this.#share(before, () => plainStream(before)),
        ...(sheet === undefined ? [] : sheet.contents),
        this.#operators(`\nQ\n${this.#drawAbove(drawn.above)}${this.#machineTexts(drawn.codes)}`),
      ];
      this.#writer.addPage(
        `/MediaBox [0 0 ${decimal(page.width)} ${decimal(page.height)}] /Resources ${resources} 0 R /Contents [${contents.map((number) => `${number} 0 R`).join(" ")}]`,
      );
    }
  }

  /** Adds the objects that a page needs of the browser's PDF, renumbered; stamps come first. */
  #addPrinted({ pages, objects }: PrintedPages, stamps: readonly Stamp[]): PrintedSheet[] {
    const sheets = pages.slice(stamps.length);
    const roots = [
      ...pages.flatMap(({ resources }) => [...resources.values()].flatMap(referencesIn)),
      ...sheets.flatMap(({ contents }) => contents),
    ];
    const numberOf = this.#writer.addAll(objects, roots);
    for (const [index, stamp] of stamps.entries()) {
      const { resources, contents, height } = pages[index] ?? {};
      const { text, stream } = objects.get(contents?.[0] ?? 0) ?? {};
      if (resources === undefined || height === undefined || contents?.length !== 1 || text === undefined || !stream)
        throw new Error("the browser printed a page with several contents");
      // Sheet and page share their upper edge.
      const place = `/BBox [0 0 ${decimal(stamp.width)} ${decimal(height)}] /Matrix [1 0 0 1 0 ${decimal(stamp.height - height)}]`;
      const own = dictionary(renumberAll(resources, numberOf));
      const entries = `/Type /XObject /Subtype /Form ${place} /Resources ${own}`;
      this.#stamps[stamp.number] = this.#writer.add({ text: extend(renumber(text, numberOf), [entries]), stream });
    }
    return sheets.map(({ resources, contents, height }) => ({
      resources: renumberAll(resources, numberOf),
      contents: contents.map(numberOf),
      height,
    }));
  }

  /** The background's page as a form XObject, stored once per file. */
  #formOf(background: NamedBackground, { form }: FlatPage): number | undefined {
    let numberOf = this.#backgrounds.get(background.name);
    if (numberOf === undefined) {
      const forms = background.pages.flatMap((page) => page.form ?? []);
      numberOf = this.#writer.addAll(background.objects, forms);
      this.#writer.needVersion(background.version);
      this.#writer.addLayers(background.layers, numberOf);
      this.#backgrounds.set(background.name, numberOf);
    }
    return form === undefined ? undefined : numberOf(form);
  }

  #resources(
    printed: ReadonlyMap<string, string> | undefined,
    { form, drawn }: { readonly form: number | undefined; readonly drawn: DrawnPage },
  ): number {
    const { above, codes, stamped } = drawn;
    const entries = new Map(printed);
    const styles = new Set(above.flatMap((each) => ("style" in each ? [each.style] : [])));
    const pictures = above.flatMap((each) => ("jpeg" in each ? [each.jpeg] : []));
    const objects = [
      ...(form === undefined ? [] : [`/${names.background} ${form} 0 R`]),
      ...Array.from(
        new Set(stamped.map(({ stamp }) => stamp)),
        (stamp) => `/${names.stamp}${stamp} ${this.#stamps[stamp]} 0 R`,
      ),
      ...Array.from(styles, (style) => `/${names[style]} ${this.#markForm(style)} 0 R`),
      ...pictures.map((jpeg, index) => `/${names.picture}${index} ${this.#picture(jpeg)} 0 R`),
    ];
    if (objects.length > 0) entries.set("/XObject", extend(entries.get("/XObject"), objects));
    if (codes.length > 0)
      entries.set("/Font", extend(entries.get("/Font"), [`/${names.font} ${this.#machineFont()} 0 R`]));
    const text = dictionary(entries);
    return this.#share(text, () => ({ text }));
  }

  #drawAbove(above: readonly Placed[]): string {
    let pictures = 0;
    return above
      .map((each) => {
        if ("symbol" in each) return codeOperators(each, pointsPerMm);
        if ("jpeg" in each) return pictureOperators(each, `${names.picture}${pictures++}`);
        const scale = (each.height * pointsPerMm) / markHeight;
        const place = [scale, 0, 0, scale, each.left * pointsPerMm, each.bottom * pointsPerMm].map(decimal);
        return `q ${place.join(" ")} cm /${names[each.style]} Do Q\n`;
      })
      .join("");
  }

  #machineTexts(codes: readonly PlacedCode[]): string {
    return codes
      .map(({ name, value }) => invisibleOperators(machineText({ issuer: this.#issuer, name, value }), names.font))
      .join("");
  }

  #picture({ bytes, width, height, channels, profile }: PlainJpeg): number {
    const device = channels === 1 ? "/DeviceGray" : "/DeviceRGB";
    const space =
      profile === undefined
        ? device
        : `[/ICCBased ${this.#stream(`/N ${channels} /Alternate ${device}`, profile)} 0 R]`;
    const entries = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace ${space} /BitsPerComponent 8`;
    return this.#stream(`${entries} /Filter /DCTDecode`, bytes);
  }

  /** Stores a stream once per file. */
  #stream(entries: string, { buffer, byteOffset, length }: Uint8Array): number {
    const stream = Buffer.from(buffer, byteOffset, length);
    return this.#writer.addOnce({ text: `<<${entries} /Length ${length}>>`, stream });
  }

  #markForm(style: PlacedMark["style"]): number {
    return this.#share(`mark ${style}`, () => {
      const stream = deflateSync(Buffer.from(markOperators(style), "latin1"));
      return {
        text: `<</Type /XObject /Subtype /Form /BBox [0 0 ${markWidth} ${markHeight}] /Filter /FlateDecode /Length ${stream.length}>>`,
        stream,
      };
    });
  }

  /** A font of its own, in the file as print shops want it: glyphs that show nothing, for each character of ASCII. */
  #machineFont(): number {
    return this.#share("machine font", () => {
      const glyph = this.#writer.add(plainStream("600 0 d0"));
      const meaning = this.#writer.add(plainStream(asciiMeaning));
      const box = "/FontBBox [0 -200 600 800] /FontMatrix [0.001 0 0 0.001 0 0]";
      const differences = Array.from(ascii, () => "/g").join("");
      const widths = Array.from(ascii, () => 600).join(" ");
      return {
        text: `<</Type /Font /Subtype /Type3 ${box} /Resources <<>> /CharProcs <</g ${glyph} 0 R>> /Encoding <</Type /Encoding /Differences [32 ${differences}]>> /FirstChar 32 /LastChar 126 /Widths [${widths}] /ToUnicode ${meaning} 0 R>>`,
      };
    });
  }

  #operators(operators: string): number {
    if (operators.length < 64) return this.#share(operators, () => plainStream(operators));
    const stream = deflateSync(Buffer.from(operators, "latin1"), { level: 3 });
    return this.#writer.add({ text: `<</Filter /FlateDecode /Length ${stream.length}>>`, stream });
  }

  /** Stores an object that many pages share once per file. */
  #share(key: string, make: () => WrittenObject): number {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const number = this.#writer.add(make());
    this.#shared.set(key, number);
    return number;
  }
}

const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));

/** Says that the codes of the font are those of Unicode. */
const asciiMeaning = [
  "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
  "/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def /CMapName /Adobe-Identity-UCS def /CMapType 2 def",
  "1 begincodespacerange <00> <ff> endcodespacerange",
  "1 beginbfrange <20> <7e> <0020> endbfrange",
  "endcmap CMapName currentdict /CMap defineresource pop end end",
].join("\n");

function pictureOperators({ left, bottom, width, height }: PlacedPicture, name: string): string {
  const place = [width, 0, 0, height, left, bottom].map((length) => decimal(length * pointsPerMm));
  return `q ${place.join(" ")} cm /${name} Do Q\n`;
}

function plainStream(operators: string): WrittenObject {
  const stream = Buffer.from(operators, "latin1");
  return { text: `<</Length ${stream.length}>>`, stream };
}

interface PrintedSheet {
  /** By names with a slash, as they are written. */
  readonly resources: ReadonlyMap<string, string>;
  readonly contents: readonly number[];
  /** In points. */
  readonly height: number;
}

interface PrintedPages {
  readonly objects: ReadonlyMap<number, PdfObject>;
  readonly pages: readonly (Omit<PrintedSheet, "resources"> & { readonly resources: ReadonlyMap<string, PdfText> })[];
}

async function readPrinted(
  pdf: Uint8Array,
  { hasClusters: areNamed }: { readonly hasClusters: boolean },
): Promise<PrintedPages> {
  const document = await PDFDocument.load(pdf, { throwOnInvalidObject: true, updateMetadata: false });
  const printed = {
    objects: objectsOf(document.context),
    pages: document.getPages().map((page) => {
      const contents = referencesIn(textOf(page.node.get(PDFName.Contents) ?? PDFArray.withContext(document.context)));
      if (contents.length === 0) throw new Error("the browser printed a page without content");
      return { resources: readResources(page.node.Resources()), contents, height: page.getHeight() };
    }),
  };
  if (!areNamed) return printed;
  const namer = new ClusterNamer(printed.objects);
  for (const { resources, contents } of printed.pages)
    for (const content of contents) namer.rename(content, fontsIn(resources.get("/Font")));
  namer.finish();
  return printed;
}

/** Resource dictionaries are resolved, wherever they are, so that ours can be merged. */
function readResources(resources: PDFDict | undefined): Map<string, PdfText> {
  const entries = resources
    ?.entries()
    .map(([name]): [string, PDFObject | undefined] => [name.toString(), resources.lookup(name)]);
  return new Map(entries?.map(([name, value]) => [name, value === undefined ? ["null"] : textOf(value)]));
}

function renumberAll(entries: ReadonlyMap<string, PdfText>, numberOf: (number: number) => number): Map<string, string> {
  return new Map(Array.from(entries, ([name, text]) => [name, renumber(text, numberOf)]));
}

function dictionary(entries: ReadonlyMap<string, string>): string {
  return `<<${Array.from(entries, ([name, value]) => `${name} ${value}`).join(" ")}>>`;
}

/** Adds entries to a serialized dictionary. */
function extend(written: string | undefined, added: readonly string[]): string {
  return `<<${(written ?? "<<>>").slice(2, -2)} ${added.join(" ")}>>`;
}

function decimal(value: number): string {
  return String(Math.round(bound(value) * 10_000) / 10_000);
}
