import { pipeline, Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";

/** Compresses lines and flushes after each part, so that clients can read a part as soon as it arrives. */
export function zip(lines: AsyncIterable<Uint8Array>): Readable {
  const zipper = createGzip({ level: constants.Z_BEST_SPEED, flush: constants.Z_SYNC_FLUSH });
  // The client sees a broken stream where one part could not be read.
  pipeline(Readable.from(lines), zipper, () => {});
  return zipper;
}
