import {
  decodePDFRawStream,
  EncryptedPDFError,
  PDFDocument,
  PDFName,
  PDFPageLeaf,
  PDFRawStream,
  PDFRef,
  PDFStream,
} from "@cantoo/pdf-lib";
import { mostBytes } from "./data-url.ts";
import type { Examined } from "./examined.ts";
import { countObjectStreams, encrypted, findInObject, findInText } from "./find-active-content.ts";
import { flattenPdf, readAtOnce } from "./flatten-pdf.ts";
import { limitUnpacking } from "./limit-unpacking.ts";
import { referencesOf } from "./pdf-objects.ts";
import { TooComplex } from "./too-complex.ts";

const mostPages = 100;

/** How much may be unpacked to find a document's objects, each part twice; large documents need a few MiB. */
const mostUnpacked = 48 * 1024 * 1024;

const broken = "The PDF is broken. Save or print it as a PDF once more and send that.";
const tooComplex = "The PDF is too complex to be examined. Send a simpler one.";

const undrawn =
  "The PDF has a text box, a stamp, a drawing or a form field, and does not say how that looks. Print it as a PDF and send that.";

/** A sentence about a document; thrown inside this file only. */
class Unusable extends Error {}

/**
 * Checks that bytes are a whole PDF that can only be read, of not too many pages, and prints. May take long and much memory
 * for a hostile one, so call it where both are limited.
 *
 * Readers differ in which parts of a damaged or forged file they read as the document. So what is taken is not the file that
 * was sent, but what this reader has found in it, written again: nothing else can be in that. What was found must be
 * harmless. A forbidden name in other parts is refused as well, so that the sender learns of it.
 *
 * A few kilobytes of packed objects may become megabytes: what is written has as many bytes as a file may have at `most`, or
 * hardly more than were sent.
 */
export async function checkPdf(bytes: Uint8Array, { most = mostBytes } = {}): Promise<Examined> {
  const unpacking = limitUnpacking(mostUnpacked);
  try {
    if (!toText(bytes.subarray(0, headerWithin)).includes("%PDF-")) throw new Unusable("The file is not a PDF.");
    const text = toText(bytes);
    refuse(findInText(text));
    const announced = countObjectStreams(text);
    const document = await PDFDocument.load(bytes, readAtOnce);
    checkObjects(document, { announced });
    checkPages(document);
    removeUnreached(document);
    const written = await document.save({
      addDefaultPage: false,
      updateFieldAppearances: false,
      objectsPerTick: Number.POSITIVE_INFINITY,
      // The library takes seconds to pack many objects.
      useObjectStreams: false,
    });
    if (written.length > Math.max(most, 1.1 * bytes.length)) throw new TooComplex("it becomes too large");
    // Printed as it will be printed later.
    if ((await flattenPdf(written)).isPartial) throw new Unusable(undrawn);
    return { ok: true, rewritten: written };
  } catch (error) {
    if (unpacking.isTooMuch || error instanceof TooComplex) return { ok: false, objection: tooComplex };
    if (error instanceof Unusable) return { ok: false, objection: error.message };
    if (error instanceof EncryptedPDFError) return { ok: false, objection: encrypted };
    // Any error of the parser, for instance about endless nesting, means that it cannot read the file.
    return { ok: false, objection: broken };
  }
}

/** Readers look for the header of a PDF in this many bytes. */
const headerWithin = 1024;

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function checkObjects({ context }: PDFDocument, { announced }: { announced: number }): void {
  let packed = 0;
  for (const [, object] of context.enumerateIndirectObjects()) {
    refuse(findInObject(object));
    if (!(object instanceof PDFRawStream)) continue;
    const { dict } = object;
    if (dict.get(PDFName.of("Type")) === PDFName.of("ObjStm")) {
      packed += 1;
      // An object of the same number may have replaced the one that was read here.
      refuse(findInText(toText(decodePDFRawStream(object).decode())));
    } else if (dict.has(PDFName.of("N")) && dict.has(PDFName.of("First"))) {
      // Other readers would find objects here.
      throw new Unusable(broken);
    }
  }
  // The file has more of them than were found: some are hidden where this reader does not look.
  if (packed !== announced) throw new Unusable(broken);
}

function refuse(message: string | undefined): void {
  if (message !== undefined) throw new Unusable(message);
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

/** Leaves what the document consists of. Of one number there may be one object only: readers would choose. */
function removeUnreached({ context, catalog }: PDFDocument): void {
  const { Root, Info } = context.trailerInfo;
  const root = Root instanceof PDFRef && context.lookup(Root) === catalog ? Root : undefined;
  if (root === undefined) throw new Unusable(broken);
  let largest = 0;
  const reached = new Map<number, PDFRef>();
  const waiting = [root, ...(Info instanceof PDFRef ? [Info] : [])];
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    const object = context.lookup(ref);
    const known = reached.get(ref.objectNumber);
    if (known !== undefined && known !== ref) throw new Unusable(broken);
    if (known !== undefined || object === undefined) continue;
    reached.set(ref.objectNumber, ref);
    largest = Math.max(largest, ref.objectNumber);
    // It is written within the stream, and an object that has said it would be lost the next time.
    if (object instanceof PDFStream) object.dict.delete(PDFName.of("Length"));
    waiting.push(...referencesOf(object));
  }
  for (const [ref] of context.enumerateIndirectObjects())
    if (reached.get(ref.objectNumber) !== ref) context.delete(ref);
  // It is written, so that what is taken is the same when it is taken once more.
  context.largestObjectNumber = largest;
}
