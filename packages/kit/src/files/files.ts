import type { Readable } from "node:stream";

export interface StoredFile {
  readonly key: string;
  readonly size: number;
  /** Microseconds since 1970. */
  readonly storedAt: number;
}

export interface FoundFile extends StoredFile {
  readonly contentType: string;
  /** Must be read or destroyed by whoever asked. */
  readonly content: Readable;
}

/**
 * Where content too large for a row lies.
 *
 * Promise: a key holds what was put there whole, or nothing: readers never meet
 * half of a file. A later put of the same key replaces the earlier one.
 */
export interface Files {
  /** Stores content of any length; an error in the source leaves nothing behind. */
  put(
    key: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: { readonly contentType: string },
  ): Promise<{ readonly size: number; readonly sha256: string }>;
  /** `range` is inclusive at both ends, as in HTTP. Undefined: there is no such file. */
  get(key: string, range?: { readonly first: number; readonly last?: number }): Promise<FoundFile | undefined>;
  /** Removes what is there; a key that is not there is no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Everything whose key begins with the prefix, in the order of the keys. */
  list(prefix: string): AsyncIterable<StoredFile>;
  close(): Promise<void>;
}
