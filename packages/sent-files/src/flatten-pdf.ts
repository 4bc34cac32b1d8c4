import { deflateSync } from "node:zlib";
import {
  decodePDFRawStream,
  ParseSpeeds,
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFNull,
  PDFNumber,
  type PDFObject,
  PDFObjectCopier,
  type PDFPage,
  PDFRawStream,
  type PDFRef,
} from "@cantoo/pdf-lib";
import { AnnotationCopier, type Appearance } from "./annotations.ts";
import { type Layer, markHiddenLayers, takeLayers } from "./layers.ts";
import { limitUnpacking } from "./limit-unpacking.ts";
import { objectsOf, type PdfObject } from "./pdf-objects.ts";
import { TooComplex } from "./too-complex.ts";

/** A page as a form, which can be drawn on others. */
export interface FlatPage {
  /** What is visible of it, in points. */
  readonly width: number;
  readonly height: number;
  /** The number of its content among the objects: a form that is drawn at the lower left corner; undefined: it is blank. */
  readonly form: number | undefined;
}

/** The pages of a PDF, with all that they need. */
export interface FlatPdf {
  readonly pages: readonly FlatPage[];
  readonly layers: readonly Layer[];
  /** Whether it has a visible annotation without an appearance, which is not drawn. */
  readonly isPartial: boolean;
  readonly objects: ReadonlyMap<number, PdfObject>;
  /** Of PDF. */
  readonly version: string;
  /** About, in bytes. */
  readonly size: number;
}

/** Without pauses for others: a file of strangers is read in a thread of its own. */
export const readAtOnce = {
  throwOnInvalidObject: true,
  updateMetadata: false,
  parseSpeed: ParseSpeeds.Fastest,
} as const;

/** More than this is left to another program than ours. */
const mostObjects = 30_000;

/** Large drawings have some megabytes. What pages share counts for each of them. */
const mostUnpacked = 64 * 1024 * 1024;

/**
 * Makes forms of the pages of a file that is known to be harmless, with what prints of their annotations: cut to what is
 * visible, turned as they are shown. Throws where a page has content that readers would not show either. May take long and
 * much memory for a hostile file.
 */
export async function flattenPdf(bytes: Uint8Array): Promise<FlatPdf> {
  limitUnpacking(mostUnpacked);
  const source = await PDFDocument.load(bytes, readAtOnce);
  markHiddenLayers(source);
  const target = await PDFDocument.create({ updateMetadata: false });
  const copier = PDFObjectCopier.for(source.context, target.context);
  const annotations = new AnnotationCopier(source, target, { most: mostUnpacked });
  let [room, annotated, isPartial] = [mostUnpacked, 0, false];
  const pages = source.getPages().map((page): FlatPage => {
    const { width, height, box, matrix } = viewOf(page);
    const content = contentOf(page, room);
    room -= content?.length ?? 0;
    const above = annotations.read(page.node);
    isPartial ||= above.isPartial;
    annotated += above.appearances.length;
    if (annotated > mostObjects) throw new TooComplex("it has too many annotations");
    if (content === undefined && above.appearances.length === 0) return { width, height, form: undefined };
    const { context } = target;
    const formOf = (operators: Uint8Array, own: PDFDict) => {
      const dict = context.obj({
        ...{ Type: "XObject", Subtype: "Form", Filter: "FlateDecode" },
        ...{ BBox: [box.left, box.bottom, box.right, box.top], Resources: own },
      });
      return PDFRawStream.of(dict, deflateSync(operators));
    };
    const resources = source.context.lookup(page.node.getInheritableAttribute(PDFName.Resources));
    const own = resources instanceof PDFDict ? copier.copy(resources) : context.obj({});
    const whole = formOf(content ?? newline, own);
    const form =
      above.appearances.length === 0
        ? whole
        : formOf(operatorsOf(above.appearances), formsOf(above.appearances, whole, context));
    form.dict.set(PDFName.of("Matrix"), context.obj([...matrix]));
    // How a page mixes with what lies under it.
    const group = page.node.lookup(PDFName.of("Group"));
    if (group !== undefined) form.dict.set(PDFName.of("Group"), copier.copy(group));
    return { width, height, form: context.register(form).objectNumber };
  });
  if (target.context.largestObjectNumber > mostObjects) throw new TooComplex("it has too many objects");
  const layers = takeLayers(target);
  const objects = objectsOf(target.context);
  return { pages, layers, isPartial, objects, version: versionOf(bytes), size: sizeOf(objects) };
}

/** Draws the annotations of a page above it: in whatever state its content ends, they begin with their own. */
function operatorsOf(appearances: readonly Appearance[]): Uint8Array {
  return Buffer.from(["/P Do", ...appearances.map(({ place }, index) => `q ${place} /A${index} Do Q`)].join("\n"));
}

function formsOf(appearances: readonly Appearance[], page: PDFRawStream, context: PDFContext): PDFDict {
  const named = appearances.map(({ form }, index): [string, PDFRef] => [`A${index}`, form]);
  return context.obj({ XObject: { P: context.register(page), ...Object.fromEntries<PDFRef>(named) } });
}

/** The content of a page, unpacked; undefined: it has none. What is named and is not there is passed over, as readers do. */
function contentOf({ node }: PDFPage, most: number): Uint8Array | undefined {
  const contents = node.lookup(PDFName.Contents);
  const parts =
    contents instanceof PDFArray ? contents.asArray().map((_, index) => contents.lookup(index)) : [contents];
  const present = parts.filter((part): part is PDFObject => part !== undefined && part !== PDFNull);
  if (present.length === 0) return undefined;
  let size = 0;
  const pieces = present.flatMap((part) => {
    const unpacked = unpack(part);
    size += unpacked.length + newline.length;
    // A content that is not packed may be named any number of times.
    if (size > most) throw new TooComplex("it has too much content");
    return [unpacked, newline];
  });
  return Buffer.concat(pieces);
}

/** Between parts: a word does not go on in the next one. */
const newline = Buffer.from("\n");

/** Readers take the short names of filters, which belong to pictures within content, everywhere. */
const filters: ReadonlyMap<string, string> = new Map([
  ["/A85", "ASCII85Decode"],
  ["/AHx", "ASCIIHexDecode"],
  ["/Fl", "FlateDecode"],
  ["/LZW", "LZWDecode"],
  ["/RL", "RunLengthDecode"],
]);

function unpack(stream: PDFObject): Uint8Array {
  if (!(stream instanceof PDFRawStream)) throw new Error("its content is no stream");
  const { contents } = stream;
  if (contents.length === 0) return contents;
  const dict = stream.dict.clone();
  const filter = dict.lookup(PDFName.of("Filter"));
  const named = filter instanceof PDFArray ? filter.asArray().map((_, index) => filter.lookup(index)) : [filter];
  const full = named.flatMap((name) => {
    if (name === undefined || name === PDFNull) return [];
    return PDFName.of(filters.get(name.toString()) ?? name.toString().slice(1));
  });
  const parameters = dict.lookup(PDFName.of("DecodeParms"));
  const [only] = full.length === 1 && !(parameters instanceof PDFArray) ? full : [];
  dict.set(PDFName.of("Filter"), only ?? dict.context.obj(full));
  if (isPredicted(parameters)) throw new Error("its content is packed like a picture");
  return decodePDFRawStream(PDFRawStream.of(dict, contents)).decode();
}

/** Whether a stream has a predictor (of PNG or TIFF), which the library does not undo. */
function isPredicted(parameters: PDFObject | undefined): boolean {
  if (parameters instanceof PDFArray)
    return parameters.asArray().some((_, index) => isPredicted(parameters.lookup(index)));
  const predictor = parameters instanceof PDFDict ? parameters.lookup(PDFName.of("Predictor")) : undefined;
  return predictor instanceof PDFNumber && predictor.asNumber() > 1;
}

function sizeOf(objects: FlatPdf["objects"]): number {
  let size = 0;
  for (const { text, stream } of objects.values()) {
    for (const piece of text) size += typeof piece === "string" ? piece.length : 8;
    size += stream?.length ?? 0;
  }
  return size;
}

type Matrix = [number, number, number, number, number, number];

/** What is visible of a page: the crop box within the media box, turned. */
function viewOf(page: PDFPage) {
  const [media, crop] = [corners(page.getMediaBox()), corners(page.getCropBox())];
  const box = {
    left: Math.max(media.left, crop.left),
    bottom: Math.max(media.bottom, crop.bottom),
    right: Math.min(media.right, crop.right),
    top: Math.min(media.top, crop.top),
  };
  // A crop box beside the page means nothing.
  const { left, bottom, right, top } = box.left < box.right && box.bottom < box.top ? box : media;
  const unit = page.node.lookup(PDFName.of("UserUnit"));
  const scale = unit instanceof PDFNumber && unit.asNumber() > 0 ? unit.asNumber() : 1;
  const quarter = (((page.getRotation().angle / 90) % 4) + 4) % 4;
  const matrices: readonly Matrix[] = [
    [1, 0, 0, 1, -left, -bottom],
    [0, -1, 1, 0, -bottom, right],
    [-1, 0, 0, -1, right, top],
    [0, 1, -1, 0, top, -left],
  ];
  const turned = matrices[quarter] ?? ([1, 0, 0, 1, -left, -bottom] satisfies Matrix);
  const [a, b, c, d, e, f] = turned;
  const isUpright = quarter % 2 === 0;
  return {
    box: { left, bottom, right, top },
    matrix: [a * scale, b * scale, c * scale, d * scale, e * scale, f * scale] satisfies Matrix,
    width: (isUpright ? right - left : top - bottom) * scale,
    height: (isUpright ? top - bottom : right - left) * scale,
  };
}

/** Any two opposite corners may be named. */
function corners({ x, y, width, height }: { x: number; y: number; width: number; height: number }) {
  return {
    left: Math.min(x, x + width),
    right: Math.max(x, x + width),
    bottom: Math.min(y, y + height),
    top: Math.max(y, y + height),
  };
}

/** The version at the beginning of a file; a later one in its catalog is rare, and readers do not refuse it. */
function versionOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString("latin1");
  return /%PDF-(1\.[0-7]|2\.0)/.exec(head)?.[1] ?? "1.4";
}
