import { createHash } from "node:crypto";
import type { PutFile } from "./files.ts";

/** Content on its way into a store. */
export interface Digest {
  /** The content; what its source throws is thrown on. */
  chunks(): AsyncGenerator<Uint8Array, void>;
  /** What has come through. */
  result(): PutFile;
  /** What the source threw, so that it can be told from what the store did. */
  readonly sourceError: { readonly error: unknown } | undefined;
}

/** Counts and hashes content while it passes. */
export function digestOf(content: Uint8Array | AsyncIterable<Uint8Array>): Digest {
  const hash = createHash("sha256");
  let size = 0;
  let sourceError: { readonly error: unknown } | undefined;
  return {
    async *chunks() {
      // By hand, because a store that gives up throws its own error into a loop over the source.
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
