import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { fault } from "../faults.ts";

/** Records compress about tenfold, a file of zeros a thousandfold. */
const largestRatio = 200;

/** Smaller streams may have any ratio. */
const unsuspectedBytes = 4 * 1024 * 1024;

/** Decompresses gzip in constant memory. Refuses a corrupt or truncated stream, and a gzip bomb. */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let expanded = 0;
  const expander = createGunzip();
  pipeline(Readable.from(source, { objectMode: false }), expander, () => {
    // Errors reach the reader of the decompressor.
  });
  try {
    for await (const piece of expander as AsyncIterable<Buffer>) {
      expanded += piece.length;
      if (expanded > unsuspectedBytes && expanded > expander.bytesWritten * largestRatio) {
        throw fault("gzip_bomb", "The compressed body expands beyond all measure.");
      }
      yield piece;
    }
  } catch (error) {
    throw isZlibError(error) ? fault("gzip_broken", "The compressed body is corrupt or cut off.") : error;
  } finally {
    expander.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
}
