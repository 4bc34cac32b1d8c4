import type { Readable } from "node:stream";

export interface StoredFile {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Microseconds since 1970, as precise as the store keeps it. */
  readonly storedAt: number;
}

export interface FoundFile extends StoredFile {
  readonly contentType: string;
  /** Must be read or destroyed by whoever asked. Its size is that of the whole file, also where only a range was asked for. */
  readonly content: Readable;
}

/** What is at a key, and how it came there. */
export interface PutFile {
  readonly size: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
}

/** Inclusive at both ends, as in HTTP; without `last` it goes to the end of the file. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

/**
 * Where content too large for a row lies.
 *
 * Promise: a key holds what was put there whole, or nothing: readers never meet
 * half of a file. A later put of the same key replaces the earlier one; readers
 * of that one read it to its end.
 *
 * A key is a path: segments of any printable Unicode with `/` between them, 80
 * bytes of UTF-8 each and 512 together; no segment is empty, `.` or `..`. No
 * key lies below another: beside `a` there is no `a/b`.
 *
 * Where the store is out of reach or full everything here throws a Fault of
 * kind `unavailable`; a key or content type that cannot be is `invalid`.
 */
export interface Files {
  /** Stores content of any length; an error in the source is thrown on and leaves everything as it was. Chunks must not change once they were handed over. */
  put(
    key: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: { readonly contentType: string },
  ): Promise<PutFile>;
  /** Undefined: there is no such file. A range that ends behind the file ends with it; one that begins there is `invalid`. */
  get(key: string, range?: ByteRange): Promise<FoundFile | undefined>;
  /** Removes what is there; a key that is not there is no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Everything whose key begins with the prefix, in the order of the keys' bytes in UTF-8. */
  list(prefix: string): AsyncIterable<StoredFile>;
  close(): Promise<void>;
}
