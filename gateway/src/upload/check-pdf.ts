import {
  decodePDFRawStream,
  EncryptedPDFError,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFDocument,
  PDFName,
  type PDFObject,
  PDFPageLeaf,
  PDFRawStream,
  PDFStream,
} from "@cantoo/pdf-lib";
import type { Objection } from "./check-image.ts";

const mostPages = 100;

/** What is unpacked to find a document's objects, each part twice; large documents have a few MiB of it. */
const mostUnpacked = 48 * 1024 * 1024;

const encrypted = "The PDF is encrypted. Send one without a password.";
const broken = "The PDF is broken. Save or print it as a PDF once more and send that.";
const tooComplex = "The PDF is too complex to be examined. Send a simpler one.";
const active = (what: string) => `The PDF holds ${what}, which is not allowed here. Send one that can only be read.`;

/** Names that have no place in a document that can only be read, wherever they stand in it. */
const forbidden: ReadonlyMap<string, string> = new Map([
  ["JavaScript", active("JavaScript")],
  ["Launch", active("an action that starts programs")],
  ["EmbeddedFile", active("an embedded file")],
  ["EmbeddedFiles", active("an embedded file")],
  ["FileAttachment", active("an embedded file")],
  ["RichMedia", active("video, sound or 3D content")],
  ["Rendition", active("video, sound or 3D content")],
  ["SubmitForm", active("an action that sends data")],
  ["ImportData", active("an action that reads files")],
  ["Encrypt", encrypted],
]);

/** Short names stand by chance in compressed content, and name fonts: what counts is that an entry is called so. */
const forbiddenEntries: ReadonlyMap<string, string> = new Map([
  ...forbidden,
  ["JS", active("JavaScript")],
  ["EF", active("an embedded file")],
  ["XFA", active("an XFA form")],
  ["AA", active("actions that run by themselves")],
]);

/** The parser has each name once. */
const asNames = (names: ReadonlyMap<string, string>): ReadonlyMap<PDFName, string> =>
  new Map(Array.from(names, ([name, message]) => [PDFName.of(name), message]));
const refusedNames = asNames(forbidden);
const refusedEntries = asNames(forbiddenEntries);

const delimiter = "[\\0\\t\\n\\f\\r ()<>[\\]{}/%]";

/** Each character may also be written as its number: `/Java#53cript`. */
const spelled = (name: string) =>
  Array.from(name, (character) => {
    const digits = character.charCodeAt(0).toString(16);
    return `(?:${character}|#${digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  }).join("");

const named = (names: readonly string[]) => new RegExp(`/(${names.map(spelled).join("|")})(?=${delimiter}|$)`, "g");

const searched = named([...forbidden.keys()]);
const packedObjects = named(["ObjStm"]);

/** A sentence about a document; thrown inside this file only. */
class Unusable extends Error {}

/**
 * Checks that bytes are a whole PDF that can only be read, of not too many pages. May take long and much memory for a
 * hostile one, so it belongs where both are limited.
 *
 * Readers differ in which parts of a damaged or doctored file they take for the document, so two things are asked: what
 * this reader finds must be harmless, and forbidden names must stand nowhere, in parts that it passed over neither.
 */
export async function checkPdf(bytes: Uint8Array): Promise<Objection> {
  const unpacking = limitUnpacking();
  try {
    if (!toText(bytes.subarray(0, headerWithin)).includes("%PDF-")) throw new Unusable("The file is not a PDF.");
    const text = toText(bytes);
    searchNames(text);
    const announced = text.match(packedObjects)?.length ?? 0;
    const document = await PDFDocument.load(bytes, { throwOnInvalidObject: true, updateMetadata: false });
    checkObjects(document, { announced });
    checkPages(document);
    return undefined;
  } catch (error) {
    if (unpacking.isTooMuch) return tooComplex;
    if (error instanceof Unusable) return error.message;
    if (error instanceof EncryptedPDFError) return encrypted;
    // Whatever the parser throws, for instance at endless nesting, says the same: it cannot read this.
    return broken;
  }
}

/** Readers look for the mark of a PDF in so many bytes. */
const headerWithin = 1024;

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function searchNames(text: string): void {
  for (const [, found = ""] of text.matchAll(searched)) {
    const name = found.replaceAll(/#(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    throw new Unusable(forbidden.get(name) ?? broken);
  }
}

function checkObjects({ context }: PDFDocument, { announced }: { announced: number }): void {
  let packed = 0;
  for (const [, object] of context.enumerateIndirectObjects()) {
    checkNames(object);
    if (!(object instanceof PDFRawStream)) continue;
    const { dict } = object;
    if (dict.get(PDFName.of("Type")) === PDFName.of("ObjStm")) {
      packed += 1;
      // An object of the same number may have taken the place of what was read here.
      searchNames(toText(decodePDFRawStream(object).decode()));
    } else if (dict.has(PDFName.of("N")) && dict.has(PDFName.of("First"))) {
      // Other readers would find objects here.
      throw new Unusable(broken);
    }
  }
  // More of them than were found: some are hidden where this reader does not look.
  if (packed !== announced) throw new Unusable(broken);
}

/** Looks at an object and all that lies directly in it; what it refers to has its own turn. */
function checkNames(root: PDFObject): void {
  const pending: PDFObject[] = [root];
  for (let object = pending.pop(); object !== undefined; object = pending.pop()) {
    if (object instanceof PDFArray) pending.push(...object.asArray());
    else if (object instanceof PDFStream) pending.push(object.dict);
    else if (object instanceof PDFName) refuse(refusedNames.get(object));
    else if (object instanceof PDFDict) {
      for (const [key, value] of object.entries()) {
        refuse(refusedEntries.get(key));
        pending.push(value);
      }
      checkOpening(object);
    }
  }
}

function refuse(message: string | undefined): void {
  if (message !== undefined) throw new Unusable(message);
}

/** What is done when a document is opened may be to show one of its pages, and nothing else. */
function checkOpening(dict: PDFDict): void {
  const action = dict.lookup(PDFName.of("OpenAction"));
  if (action instanceof PDFDict && action.lookup(PDFName.of("S")) !== PDFName.of("GoTo")) {
    throw new Unusable(active("an action that runs when it is opened"));
  }
}

function checkPages({ catalog }: PDFDocument): void {
  let pages = 0;
  catalog.Pages().traverse((node) => {
    if (!(node instanceof PDFPageLeaf)) return;
    pages += 1;
    if (pages > mostPages) throw new Unusable(`The PDF has more than ${mostPages} pages. Send fewer.`);
    const { width, height } = node.MediaBox().asRectangle();
    // Any two opposite corners may be named.
    if (!(Math.abs(width) > 0 && Math.abs(height) > 0)) throw new Unusable(broken);
  });
  if (pages === 0) throw new Unusable(broken);
}

/** The part of the parser's decoders that this file knows of. */
interface Decoder {
  buffer: Uint8Array;
  ensureBuffer(this: Decoder, requested: number): Uint8Array;
}

let unpacked = 0;

/**
 * Has the parser stop when it unpacks too much: some kilobytes can stand for gigabytes, outside the heap, where the
 * limits of a thread do not reach. The parser has no setting for it, but all its decoders ask for room at one place.
 */
function limitUnpacking(): { readonly isTooMuch: boolean } {
  unpacked = 0;
  const decoder = decoderPrototype();
  if (decoder.ensureBuffer.name !== limited.name) {
    ensureBuffer = decoder.ensureBuffer;
    decoder.ensureBuffer = limited;
  }
  return {
    get isTooMuch() {
      return unpacked > mostUnpacked;
    },
  };
}

let ensureBuffer: Decoder["ensureBuffer"] | undefined;

function limited(this: Decoder, requested: number): Uint8Array {
  const { byteLength } = this.buffer;
  // They double.
  if (requested > byteLength) unpacked += Math.max(requested - byteLength, byteLength);
  if (unpacked > mostUnpacked) throw new Unusable(tooComplex);
  if (ensureBuffer === undefined) throw new Error("the decoders of the PDF parser have lost their room");
  return ensureBuffer.call(this, requested);
}

function decoderPrototype(): Decoder {
  const dict = PDFContext.create().obj({ Filter: "RunLengthDecode" });
  const decoder: unknown = decodePDFRawStream(PDFRawStream.of(dict, new Uint8Array()));
  const prototype: unknown = Object.getPrototypeOf(Object.getPrototypeOf(decoder));
  if (typeof prototype === "object" && prototype !== null && Object.hasOwn(prototype, "ensureBuffer"))
    return prototype as Decoder;
  throw new Error("the PDF parser has no decoder whose room could be limited");
}
