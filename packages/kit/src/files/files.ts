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
  /** The caller must read or destroy it. `size` is that of the whole file, also when the caller asked for a range. */
  readonly content: Readable;
}

/** Facts about content that was stored. */
export interface PutFile {
  readonly size: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
}

/** Both ends are included, as in HTTP. Without `last` it goes to the end of the file. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

/**
 * Stores content that is too large for a row.
 *
 * Promise: a key has complete content or none: readers never see half of a file. A later put of the same key replaces
 * the content; readers of the earlier content can read it to its end.
 *
 * A key is a path: segments of printable Unicode with `/` between them, at most 80 bytes of UTF-8 each and 512 together.
 * No segment is empty, `.` or `..`. No key is a folder of another: beside `a` there is no `a/b`.
 *
 * When the store is full or cannot be reached, all methods throw a Fault of kind `unavailable`. A bad key or content type
 * is `invalid`.
 */
export interface Files {
  /** Stores content of any length. An error of the source is passed on, and changes nothing in the store. The source must not change chunks afterwards. */
  put(
    key: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: { readonly contentType: string },
  ): Promise<PutFile>;
  /** Undefined: there is no such file. A range may end after the end of the file; one that begins there is `invalid`. */
  get(key: string, range?: ByteRange): Promise<FoundFile | undefined>;
  /** All of a file that fits into memory, and whose size is known: less work than `get`. Undefined: there is no such file. */
  read(key: string, size: number): Promise<Uint8Array | undefined>;
  /** Removes files. An unknown key is no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** All files with a key that begins with the prefix, in the order of the keys' bytes in UTF-8. */
  list(prefix: string): AsyncIterable<StoredFile>;
  /**
   * What puts have stored of files with a key that begins with the prefix, while they go on, or since their process was
   * killed. `storedAt` is the time of the last bytes, in a bucket of the last part. A key may come more than once.
   */
  listUnfinished(prefix: string): AsyncIterable<StoredFile>;
  /** Removes what puts have stored of files that are not complete. A put that goes on fails as `unavailable`. */
  removeUnfinished(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
