import { checkImage, countPixels } from "@tessera/sent-files/check-image";
import type { FlatPage } from "@tessera/sent-files/flatten-pdf";
import type { FontFace, PrintedImage, PrintJob } from "../browser/print-job.ts";
import type { EncodeSymbol } from "../domain/code-symbol.ts";
import { type DrawnPage, drawPage, type Stamped } from "../domain/drawing/draw-page.ts";
import { type DrawnText, drawText, mayNotFit } from "../domain/drawing/draw-text.ts";
import { fontChain } from "../domain/drawing/font-chain.ts";
import { enlargement, pixels, pointsPerMm } from "../domain/drawing/page-units.ts";
import { type PlainJpeg, readPlainJpeg } from "../domain/drawing/plain-jpeg.ts";
import { prepareLines } from "../domain/drawing/prepare-lines.ts";
import { StyleSheet } from "../domain/drawing/style-sheet.ts";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import type { NamedBackground } from "./background-cache.ts";
import type { FontCatalogue } from "./font-catalogue.ts";
import type { ImageFile, RenderWarning, Ticket } from "./printed-ticket.ts";
import type { Stamp, Stamps } from "./stamps.ts";

/** A ticket with all data for its drawing. */
export interface ReadTicket {
  readonly ticket: Ticket;
  /** Among all tickets, from 0. */
  readonly index: number;
  readonly background: NamedBackground;
  readonly images: ReadonlyMap<ResolvedElement, ImageFile>;
}

export interface ChunkPage {
  readonly background: NamedBackground;
  readonly page: FlatPage;
  readonly drawn: DrawnPage;
}

/** Tickets that are printed in one job. */
export interface DrawnChunk {
  /** Undefined: the browser has nothing to print. Its first pages are the stamps, then the pages with HTML. */
  readonly job: PrintJob | undefined;
  /** Stamps that this chunk and later ones use. */
  readonly stamps: readonly Stamp[];
  /** Pages of the file, in order. */
  readonly pages: readonly ChunkPage[];
  readonly warnings: readonly RenderWarning[];
  /** Uses of stamps whose text may not fit. */
  readonly measured: readonly MeasuredUse[];
  /** The first element that shows each picture. */
  readonly imageMarks: readonly string[];
}

/** The use of a stamp by an element, which is named by its mark. */
export interface MeasuredUse {
  readonly stamp: number;
  readonly mark: string;
}

export interface ChunkOptions {
  readonly encode: EncodeSymbol;
  /** Undefined: each text is drawn on each page. */
  readonly stamps?: Stamps | undefined;
  readonly checksFit?: boolean | undefined;
}

const printedDotsPerMm = 300 / 25.4;

/** The browser scales a picture down if it shrinks below this share; a small picture saves almost nothing. */
const leastOfAny = 0.8;
const leastOfSmall = 0.5;
const smallBytes = 32 * 1024;

/** The largest width and height in pixels that a picture is printed with. */
function mostPixelsOf({
  width,
  height,
}: {
  readonly width: number;
  readonly height: number;
}): readonly [number, number] {
  return [Math.max(1, width * printedDotsPerMm), Math.max(1, height * printedDotsPerMm)];
}

/** Draws all pages of tickets. */
export function drawChunk(
  read: readonly ReadTicket[],
  fonts: FontCatalogue,
  { encode, checksFit, stamps }: ChunkOptions,
): DrawnChunk {
  const tickets = read.map((each) => withPlainLetters(each, fonts));
  const warnings: RenderWarning[] = [];
  const images: PrintedImage[] = [];
  const imageMarks: string[] = [];
  const numbers = new Map<string, number>();
  const written = new Map<string, Written>();
  const styles = new StyleSheet();
  const warn = (code: RenderWarning["code"], mark: string) => void warnings.push({ ...readMark(mark), code });

  function numberOf(element: ResolvedElement, { index, images: files }: ReadTicket): number | undefined {
    const file = files.get(element);
    if (element.type !== "imagearea" || file === undefined) return undefined;
    const [mostWidth, mostHeight] = mostPixelsOf(element);
    const key = `${element.image?.position}/${element.image?.question}/${mostWidth}/${mostHeight}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (!checkImage(file.type, file.bytes).ok) {
      warn("image_unreadable", markOf(index, element));
      return undefined;
    }
    const number =
      images.push({
        ...file,
        pixels: countPixels(file.type, file.bytes),
        mostWidth,
        mostHeight,
      }) - 1;
    numbers.set(key, number);
    imageMarks.push(markOf(index, element));
    return number;
  }

  const places = new Map<ResolvedElement, number>();
  const markOf = (ticket: number, element: ResolvedElement) => `${ticket}:${places.get(element) ?? 0}`;
  const chunkStamps = stamps?.forChunk(textsOf(tickets));
  const measured: MeasuredUse[] = [];
  const doubts = new Map<number, { readonly ofLetters: boolean; readonly ofLength: boolean }>();

  /** What must be reported to each user of a stamp; it is the same for all. */
  function doubtsOf({ element, stamp }: Stamped) {
    const known = doubts.get(stamp) ?? {
      ofLetters: lacksLetters(element, fonts),
      ofLength: mayNotFit(element, { checksFit }),
    };
    doubts.set(stamp, known);
    return known;
  }

  const pages = tickets.flatMap((read) => {
    const { ticket, index, background } = read;
    for (const [place, element] of ticket.elements.entries()) places.set(element, place);
    return background.pages.map((page, place) => {
      const elements = ticket.elements.filter((element) => element.page === place + 1);
      const drawn = drawPage(elements, {
        height: page.height / pointsPerMm,
        markOf: (element) => markOf(index, element),
        jpegOf: (element) => jpegOf(element, read.images),
        imageOf: (element) => numberOf(element, read),
        stampOf: (text) => chunkStamps?.numberOf(text, page),
        encode,
        styles,
        checksFit,
      });
      for (const text of drawn.texts) {
        note(text, written);
        if (lacksLetters(text, fonts)) warn("letters_missing", markOf(index, text));
      }
      for (const stamped of drawn.stamped) {
        const { ofLetters, ofLength } = doubtsOf(stamped);
        if (ofLetters) warn("letters_missing", markOf(index, stamped.element));
        if (ofLength) measured.push({ stamp: stamped.stamp, mark: markOf(index, stamped.element) });
      }
      for (const mark of drawn.misfits) warn("code_too_long", mark);
      return { background, page, drawn };
    });
  });
  const fresh = chunkStamps?.fresh ?? [];
  for (const { text } of fresh) note(text, written);
  const sheets = [
    ...fresh.map(({ text, number, ...size }) => {
      const height = size.height / pointsPerMm;
      return { ...size, html: drawText(text, { height, mark: markOfStamp(number), styles, checksFit }) };
    }),
    ...pages.flatMap(({ page, drawn }) => (drawn.html === "" ? [] : [{ ...page, html: drawn.html }])),
  ];
  const job = makeJob(sheets, { fonts: chooseFonts(written, fonts), images, styles });
  return { job, stamps: fresh, pages, warnings, measured, imageMarks };
}

/** A ticket with the plain form (NFKC) of letters that no font has, such as mathematical ones: people write names with them. */
function withPlainLetters(read: ReadTicket, fonts: FontCatalogue): ReadTicket {
  const { elements } = read.ticket;
  const printable = elements.map((element) => {
    if (element.type !== "textarea" && element.type !== "textcontainer") return element;
    if (!lacksLetters(element, fonts)) return element;
    const { bold: isBold, italic: isItalic, language } = element;
    const lacks = (text: string) => fonts.lacksAny(text, fontChain(text, language), { isBold, isItalic });
    const value = [...element.value.normalize("NFC")].map((letter) => {
      const plain = letter.normalize("NFKC");
      return plain !== letter && lacks(letter) && !lacks(plain) ? plain : letter;
    });
    return { ...element, value: value.join("") };
  });
  if (printable.every((element, index) => element === elements[index])) return read;
  return { ...read, ticket: { ...read.ticket, elements: printable } };
}

/** All texts on existing pages, with the sizes of the pages. */
function* textsOf(tickets: readonly ReadTicket[]): Generator<readonly [DrawnText, FlatPage]> {
  for (const { ticket, background } of tickets) {
    for (const element of ticket.elements) {
      const page = background.pages[element.page - 1];
      if (page !== undefined && (element.type === "textarea" || element.type === "textcontainer"))
        yield [element, page];
    }
  }
}

/** The picture of an element, if it can be embedded without scaling or decoding. */
function jpegOf(element: ResolvedElement, images: ReadTicket["images"]): PlainJpeg | undefined {
  const file = images.get(element);
  if (element.type !== "imagearea" || file?.type !== "image/jpeg") return undefined;
  const jpeg = readPlainJpeg(file.bytes);
  if (jpeg === undefined || !checkImage(file.type, file.bytes).ok) return undefined;
  const [mostWidth, mostHeight] = mostPixelsOf(element);
  const shrinking = Math.min(mostWidth / jpeg.width, mostHeight / jpeg.height);
  return shrinking < (file.bytes.length <= smallBytes ? leastOfSmall : leastOfAny) ? undefined : jpeg;
}

/** Parses a mark: its ticket and its element. */
export function readMark(mark: string): { readonly ticket: number; readonly element: number } {
  const [ticket = 0, element = 0] = mark.split(":").map(Number);
  return { ticket, element };
}

/** Names a stamp whose text does not fit. */
function markOfStamp(stamp: number): string {
  return `stamp ${stamp}`;
}

/** Parses the mark of a stamp; undefined for other marks. */
export function readStampMark(mark: string): number | undefined {
  const [, number] = /^stamp (\d+)$/.exec(mark) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Texts in one style and language. */
interface Written {
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly language: string;
  readonly texts: string[];
}

function note(element: DrawnText, written: Map<string, Written>): void {
  const { bold: isBold, italic: isItalic, language } = element;
  const key = `${isBold}/${isItalic}/${language}`;
  const same = written.get(key);
  const text = prepareLines(element.value).join("\n");
  if (same === undefined) written.set(key, { isBold, isItalic, language, texts: [text] });
  else same.texts.push(text);
}

function lacksLetters(element: DrawnText, fonts: FontCatalogue): boolean {
  const { value, language, bold: isBold, italic: isItalic } = element;
  // The first font has all of these.
  if (/^[\n -~\u00a0-\u017f]*$/.test(value)) return false;
  const text = prepareLines(value).join("\n");
  return fonts.lacksAny(text, fontChain(text, language), { isBold, isItalic });
}

function chooseFonts(written: ReadonlyMap<string, Written>, fonts: FontCatalogue): FontFace[] {
  const faces = new Set<FontFace>();
  for (const { texts, language, ...style } of written.values()) {
    // Font fallback is per text.
    const chains = Map.groupBy(texts, (text) => fontChain(text, language).join());
    for (const same of chains.values()) {
      const text = same.join("");
      for (const face of fonts.facesFor(text, fontChain(same[0] ?? "", language), style)) faces.add(face);
    }
  }
  return [...faces];
}

/** A page that the browser prints, in points. */
interface Sheet {
  readonly width: number;
  readonly height: number;
  readonly html: string;
}

function makeJob(
  sheets: readonly Sheet[],
  {
    fonts,
    images,
    styles,
  }: {
    readonly fonts: readonly FontFace[];
    readonly images: readonly PrintedImage[];
    readonly styles: StyleSheet;
  },
): PrintJob | undefined {
  if (sheets.length === 0) return undefined;
  const toPixels = 96 / 72;
  // Whole pixels, so that the browser does not round; the background defines the crop.
  const width = Math.ceil(Math.max(...sheets.map((sheet) => sheet.width)) * toPixels) + 1;
  const height = Math.ceil(Math.max(...sheets.map((sheet) => sheet.height)) * toPixels) + 1;
  const sections = sheets.map((sheet) => {
    const size = `width:${pixels(sheet.width * toPixels * enlargement)};height:${pixels(sheet.height * toPixels * enlargement)}`;
    return `<section class="${styles.classOf(size)}">${sheet.html}</section>`;
  });
  return {
    html: `<style>${styles.text}</style>${sections.join("")}`,
    pages: sheets.length,
    width,
    height,
    fonts,
    images,
  };
}
