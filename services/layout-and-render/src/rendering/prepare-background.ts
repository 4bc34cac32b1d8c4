import { PDFDocument, PDFName, PDFNumber, PDFObjectCopier, type PDFPage, PDFRawStream } from "@cantoo/pdf-lib";
import { type Layer, markHiddenLayers, takeLayers } from "./layers.ts";
import { type PdfObject, readPlainPdf } from "./read-plain-pdf.ts";

/** A page of a background. */
export interface BackgroundPage {
  /** What is visible of it, in points. */
  readonly width: number;
  readonly height: number;
  /** The number of its content among the objects: a form that is drawn at the lower left corner; undefined: it is blank. */
  readonly form: number | undefined;
}

/** A background as it is put under tickets. */
export interface PreparedBackground {
  readonly pages: readonly BackgroundPage[];
  readonly layers: readonly Layer[];
  readonly objects: ReadonlyMap<number, PdfObject>;
  /** Of PDF. */
  readonly version: string;
  /** About, in bytes. */
  readonly size: number;
}

/** The pages of a background in a file that has nothing else. */
export interface PlainBackground {
  readonly pages: readonly BackgroundPage[];
  readonly layers: readonly Layer[];
  readonly plain: Uint8Array;
  /** Of PDF. */
  readonly version: string;
}

/** More than this is left to another program than ours. */
const mostObjects = 30_000;

/** Prepares the pages of a file that is known to be harmless. */
export async function prepareBackground(bytes: Uint8Array): Promise<PreparedBackground> {
  return readPrepared(await flattenBackground(bytes));
}

/** Reads what was prepared. */
export function readPrepared({ pages, layers, plain, version }: PlainBackground): PreparedBackground {
  const { objects } = readPlainPdf(Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength));
  return { pages, layers, objects, version, size: plain.length };
}

/**
 * Makes forms of the pages of a file: cut to what is visible, turned as they are shown. May take long and much memory for a
 * hostile file.
 */
export async function flattenBackground(bytes: Uint8Array): Promise<PlainBackground> {
  const source = await PDFDocument.load(new Uint8Array(bytes), { updateMetadata: false });
  markHiddenLayers(source);
  const target = await PDFDocument.create({ updateMetadata: false });
  const copier = PDFObjectCopier.for(source.context, target.context);
  const views = source.getPages().map((page) => ({ page, ...viewOf(page) }));
  const filled = views.filter(({ page }) => page.node.Contents() !== undefined);
  const forms = await target.embedPages(
    filled.map(({ page }) => page),
    filled.map(({ box }) => box),
    filled.map(({ matrix }) => matrix),
  );
  await target.flush();
  const numbers = new Map<PDFPage, number>();
  for (const [index, { page }] of filled.entries()) {
    const form = forms[index];
    if (form === undefined) continue;
    numbers.set(page, form.ref.objectNumber);
    // How a page mixes with what lies under it.
    const group = page.node.lookup(PDFName.of("Group"));
    const object = target.context.lookup(form.ref);
    if (group !== undefined && object instanceof PDFRawStream) object.dict.set(PDFName.of("Group"), copier.copy(group));
  }
  if (target.context.largestObjectNumber > mostObjects) throw new Error("it has too many objects");
  const layers = takeLayers(target);
  // One page keeps the document valid.
  target.addPage();
  const plain = await target.save({ useObjectStreams: false, addDefaultPage: false, updateFieldAppearances: false });
  return {
    pages: views.map(({ page, width, height }) => ({ width, height, form: numbers.get(page) })),
    layers,
    plain,
    version: versionOf(bytes),
  };
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
