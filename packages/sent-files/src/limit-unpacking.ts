import { decodePDFRawStream, PDFContext, PDFRawStream } from "@cantoo/pdf-lib";

/** The part of the parser's decoders that this file uses. */
interface Decoder {
  buffer: Uint8Array;
  ensureBuffer(this: Decoder, requested: number): Uint8Array;
}

let unpacked = 0;
let most = 0;

/**
 * Stops the parser when it unpacks too much: a few kilobytes can expand to gigabytes, outside the heap and thus beyond
 * the limits of a thread. The parser has no setting for this, but all its decoders allocate in one place.
 *
 * It counts for one document at a time: call it before each, in a thread that has no other.
 */
export function limitUnpacking(mostBytes: number): { readonly isTooMuch: boolean } {
  unpacked = 0;
  most = mostBytes;
  const decoder = decoderPrototype();
  if (decoder.ensureBuffer.name !== limited.name) {
    ensureBuffer = decoder.ensureBuffer;
    decoder.ensureBuffer = limited;
  }
  return {
    get isTooMuch() {
      return unpacked > most;
    },
  };
}

let ensureBuffer: Decoder["ensureBuffer"] | undefined;

function limited(this: Decoder, requested: number): Uint8Array {
  const { byteLength } = this.buffer;
  // Buffers double.
  if (requested > byteLength) unpacked += Math.max(requested - byteLength, byteLength);
  if (unpacked > most) throw new Error("too much would be unpacked");
  if (ensureBuffer === undefined) throw new Error("the decoders of the PDF parser are not patched");
  return ensureBuffer.call(this, requested);
}

function decoderPrototype(): Decoder {
  const dict = PDFContext.create().obj({ Filter: "RunLengthDecode" });
  const decoder: unknown = decodePDFRawStream(PDFRawStream.of(dict, new Uint8Array()));
  const prototype: unknown = Object.getPrototypeOf(Object.getPrototypeOf(decoder));
  if (typeof prototype === "object" && prototype !== null && Object.hasOwn(prototype, "ensureBuffer"))
    return prototype as Decoder;
  throw new Error("the PDF parser has no decoder with a buffer that could be limited");
}
