import {
  decodePDFRawStream,
  EncryptedPDFError,
  PDFDocument,
  PDFName,
  PDFPageLeaf,
  PDFRawStream,
} from "@cantoo/pdf-lib";
import type { Objection } from "./check-image.ts";
import { countObjectStreams, encrypted, findInObject, findInText } from "./find-active-content.ts";
import { limitUnpacking } from "./limit-unpacking.ts";

const mostPages = 100;

/** How much may be unpacked to find a document's objects, each part twice; large documents need a few MiB. */
const mostUnpacked = 48 * 1024 * 1024;

const broken = "The PDF is broken. Save or print it as a PDF once more and send that.";
const tooComplex = "The PDF is too complex to be examined. Send a simpler one.";

/** A sentence about a document; thrown inside this file only. */
class Unusable extends Error {}

/**
 * Checks that bytes are a whole PDF that can only be read, of not too many pages. May take long and much memory for a
 * hostile one, so call it where both are limited.
 *
 * Readers differ in which parts of a damaged or forged file they read as the document. So two conditions apply: what
 * this reader finds must be harmless, and the forbidden names must not occur anywhere, not even in parts that it skipped.
 */
export async function checkPdf(bytes: Uint8Array): Promise<Objection> {
  const unpacking = limitUnpacking(mostUnpacked);
  try {
    if (!toText(bytes.subarray(0, headerWithin)).includes("%PDF-")) throw new Unusable("The file is not a PDF.");
    const text = toText(bytes);
    refuse(findInText(text));
    const announced = countObjectStreams(text);
    const document = await PDFDocument.load(bytes, { throwOnInvalidObject: true, updateMetadata: false });
    checkObjects(document, { announced });
    checkPages(document);
    return undefined;
  } catch (error) {
    if (unpacking.isTooMuch) return tooComplex;
    if (error instanceof Unusable) return error.message;
    if (error instanceof EncryptedPDFError) return encrypted;
    // Any error of the parser, for instance about endless nesting, means that it cannot read the file.
    return broken;
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
