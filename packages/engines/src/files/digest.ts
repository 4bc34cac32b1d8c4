import { createHash } from "node:crypto";
import type { PutFile } from "@tessera/kit/files/files";

/** Content that a store is reading. */
export interface Digest {
  /** The content. Errors of its source are passed on. */
  chunks(): AsyncGenerator<Uint8Array, void>;
  /** Size and hash of what was read so far. */
  result(): PutFile;
  /** The error of the source, as opposed to errors of the store. */
  readonly sourceError: { readonly error: unknown } | undefined;
}

/** Counts and hashes content while it passes. */
export function digestOf(content: Uint8Array | AsyncIterable<Uint8Array>): Digest {
  const hash = createHash("sha256");
  let size = 0;
  let sourceError: { readonly error: unknown } | undefined;
  return {
    async *chunks() {
      // No `for await`: an error of the store would be thrown into such a loop, and look like one of the source.
      const source = (content instanceof Uint8Array ? bytes(content) : content)[Symbol.asyncIterator]();
      let ended = false;
      try {
        for (;;) {
          let chunk: Uint8Array;
          try {
            const next = await source.next();
            if (next.done === true) {
              ended = true;
              return;
            }
            chunk = next.value;
            hash.update(chunk);
          } catch (error) {
            ended = true;
            sourceError = { error };
            throw error;
          }
          size += chunk.byteLength;
          if (chunk.byteLength > 0) yield chunk;
        }
      } finally {
        if (!ended) await source.return?.();
      }
    },
    result: () => ({ size, sha256: hash.copy().digest("hex") }),
    get sourceError() {
      return sourceError;
    },
  };
}

async function* bytes(content: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield content;
}
