import {
  PDFArray,
  PDFDict,
  type PDFDocument,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFObjectCopier,
  type PDFPageLeaf,
  PDFRawStream,
  PDFRef,
} from "@cantoo/pdf-lib";
import { TooComplex } from "./too-complex.ts";

/** How an annotation looks: a form, and the operator that puts it into its place on the page. */
export interface Appearance {
  readonly form: PDFRef;
  readonly place: string;
}

/** What is drawn of the annotations of a page. */
interface Drawn {
  readonly appearances: readonly Appearance[];
  /** Whether one can be seen, and the file does not say how it looks. */
  readonly isPartial: boolean;
}

const name = (text: string) => PDFName.of(text);

/** They are no part of what is printed: links have borders at most, and notes are comments. */
const unprinted: ReadonlySet<PDFObject | undefined> = new Set(["Link", "Popup", "Text"].map(name));

const flags = { hidden: 1 << 1, print: 1 << 2, noView: 1 << 5 };

/** What a form needs to be drawn; nothing else of it is copied. */
const keysOfForms = ["BBox", "Matrix", "Group", "Filter", "DecodeParms", "OC"].map(name);

/** Copies the appearances of annotations: stamps, text boxes, drawings, filled fields of forms. What they do when they are used is left. */
export class AnnotationCopier {
  readonly #source: PDFDocument;
  readonly #target: PDFDocument;
  readonly #copier: PDFObjectCopier;
  /** Annotations may share one. */
  readonly #forms = new Map<PDFRawStream, Map<PDFRef | undefined, PDFRef>>();
  readonly #resources = new Map<PDFDict, PDFRef>();
  #room: number;

  /** At `most` so many bytes are copied. */
  constructor(source: PDFDocument, target: PDFDocument, { most }: { readonly most: number }) {
    this.#source = source;
    this.#target = target;
    this.#room = most;
    this.#copier = PDFObjectCopier.for(source.context, target.context);
  }

  /** Reads what prints of the annotations of a page, in the order in which they lie on each other. */
  read(page: PDFPageLeaf): Drawn {
    const annotations = page.lookup(name("Annots"));
    if (!(annotations instanceof PDFArray)) return { appearances: [], isPartial: false };
    let isPartial = false;
    const appearances = annotations.asArray().flatMap((_, index): Appearance[] => {
      const annotation = annotations.lookup(index);
      const rect = annotation instanceof PDFDict ? boxIn(annotation, "Rect") : undefined;
      if (!(annotation instanceof PDFDict) || rect === undefined || !isPrinted(annotation)) return [];
      const stream = appearanceOf(annotation);
      if (stream === undefined) isPartial ||= hasLook(annotation);
      const place = stream === undefined ? undefined : placeIn(rect, stream.dict);
      if (stream === undefined || place === undefined) return [];
      const layer = annotation.get(name("OC"));
      return [{ form: this.#copy(stream, { page, layer: layer instanceof PDFRef ? layer : undefined }), place }];
    });
    return { appearances, isPartial };
  }

  #copy(
    stream: PDFRawStream,
    { page, layer }: { readonly page: PDFPageLeaf; readonly layer: PDFRef | undefined },
  ): PDFRef {
    const byLayer = this.#forms.get(stream) ?? new Map<PDFRef | undefined, PDFRef>();
    this.#forms.set(stream, byLayer);
    const known = byLayer.get(layer);
    if (known !== undefined) return known;
    const { context } = this.#target;
    const dict = context.obj({ Type: "XObject", Subtype: "Form" });
    for (const key of keysOfForms) {
      const value = stream.dict.get(key);
      if (value !== undefined) dict.set(key, this.#copier.copy(value));
    }
    if (layer !== undefined) dict.set(name("OC"), this.#copier.copy(layer));
    dict.set(PDFName.Resources, this.#share(this.#resourcesOf(stream, page)));
    const form = PDFRawStream.of(dict, stream.contents);
    this.#room -= form.sizeInBytes();
    if (this.#room < 0) throw new TooComplex("its annotations have too much content");
    const reference = context.register(form);
    byLayer.set(layer, reference);
    return reference;
  }

  /** Copies resources once: many forms use those of their page. */
  #share(resources: PDFDict): PDFRef {
    const known = this.#resources.get(resources);
    if (known !== undefined) return known;
    const copied = this.#target.context.register(this.#copier.copy(resources));
    this.#resources.set(resources, copied);
    return copied;
  }

  /** Fields of forms may use what all fields share. */
  #resourcesOf({ dict }: PDFRawStream, page: PDFPageLeaf): PDFDict {
    const form = this.#source.catalog.lookup(name("AcroForm"));
    const shared = form instanceof PDFDict ? form.lookup(name("DR")) : undefined;
    const candidates = [dict.lookup(PDFName.Resources), shared, page.Resources()];
    return candidates.find((each) => each instanceof PDFDict) ?? this.#source.context.obj({});
  }
}

function isPrinted(annotation: PDFDict): boolean {
  const set = numberOf(annotation.lookup(name("F"))) ?? 0;
  if ((set & flags.print) === 0 || (set & (flags.hidden | flags.noView)) !== 0) return false;
  return !unprinted.has(annotation.lookup(name("Subtype")));
}

/** The appearance of an annotation, in its present state. */
function appearanceOf(annotation: PDFDict): PDFRawStream | undefined {
  const all = annotation.lookup(name("AP"));
  const normal = all instanceof PDFDict ? all.lookup(name("N")) : undefined;
  const state = annotation.lookup(name("AS"));
  const shown = normal instanceof PDFDict && state instanceof PDFName ? normal.lookup(state) : normal;
  return shown instanceof PDFRawStream ? shown : undefined;
}

/** Whether readers draw an annotation without an appearance: all but empty fields of forms, and boxes to tick. */
function hasLook(annotation: PDFDict): boolean {
  if (annotation.has(name("AP"))) return false;
  if (annotation.lookup(name("Subtype")) !== name("Widget")) return true;
  const type = inherited(annotation, "FT");
  const value = inherited(annotation, "V");
  return (
    (type === name("Tx") || type === name("Ch")) && value !== undefined && !/^(?:\(\)|<>|null)$/.test(value.toString())
  );
}

/** An entry of a field, or of what it is a part of. */
function inherited(field: PDFDict, key: string): PDFObject | undefined {
  const seen = new Set<PDFDict>();
  for (let at: PDFObject | undefined = field; at instanceof PDFDict && !seen.has(at); at = at.lookup(name("Parent"))) {
    seen.add(at);
    const value = at.lookup(name(key));
    if (value !== undefined) return value;
  }
  return undefined;
}

interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** Puts the box of an appearance, turned as its matrix says, into a rectangle (PDF 32000-1, 12.5.5). */
function placeIn(rect: Box, form: PDFDict): string | undefined {
  const box = boxIn(form, "BBox");
  if (box === undefined) return undefined;
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = numbersIn(form, "Matrix", 6) ?? [];
  const points = [box.left, box.right].flatMap((x) =>
    [box.bottom, box.top].map((y) => [a * x + c * y + e, b * x + d * y + f] as const),
  );
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - bottom];
  if (!(width > 0 && height > 0)) return undefined;
  const [across, up] = [(rect.right - rect.left) / width, (rect.top - rect.bottom) / height];
  const matrix = [across, 0, 0, up, rect.left - left * across, rect.bottom - bottom * up];
  return matrix.every(Number.isFinite) ? `${matrix.map(decimal).join(" ")} cm` : undefined;
}

/** A rectangle by any two opposite corners; undefined: it has no area. */
function boxIn(dict: PDFDict, key: string): Box | undefined {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = numbersIn(dict, key, 4) ?? [];
  const box = { left: Math.min(x1, x2), bottom: Math.min(y1, y2), right: Math.max(x1, x2), top: Math.max(y1, y2) };
  return box.left < box.right && box.bottom < box.top ? box : undefined;
}

function numbersIn(dict: PDFDict, key: string, count: number): number[] | undefined {
  const array = dict.lookup(name(key));
  if (!(array instanceof PDFArray) || array.size() !== count) return undefined;
  const numbers = array.asArray().flatMap((_, index) => numberOf(array.lookup(index)) ?? []);
  return numbers.length === count ? numbers : undefined;
}

function numberOf(value: PDFObject | undefined): number | undefined {
  return value instanceof PDFNumber ? value.asNumber() : undefined;
}

/** PDF has no exponents. */
function decimal(value: number): string {
  return value.toFixed(6);
}
