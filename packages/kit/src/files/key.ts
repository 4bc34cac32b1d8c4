import type { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import type { ByteRange } from "./files.ts";

const longestKey = 512;

/** Three times as long where every byte is escaped, which is still a file name. */
const longestSegment = 80;

/** Control characters, and the two that no XML can hold. */
const unprintable = /[\p{Cc}\uFFFE\uFFFF]/u;

/** Tells whether a text is a key. */
export function isKey(key: string): boolean {
  if (!key.isWellFormed() || unprintable.test(key) || Buffer.byteLength(key) > longestKey) return false;
  return key
    .split("/")
    .every(
      (segment) =>
        segment !== "" && segment !== "." && segment !== ".." && Buffer.byteLength(segment) <= longestSegment,
    );
}

/** Refuses what is no key. */
export function requireKey(key: string): void {
  if (isKey(key)) return;
  throw fault(
    "file_key_invalid",
    `a file's key has segments of 1 to ${longestSegment} bytes between slashes, ${longestKey} bytes in all, none of them . or .., without control characters`,
  );
}

/** Refuses what is no media type. */
export function requireContentType(type: string): void {
  if (type.length <= 200 && /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.-]+=[\w.+-]+)*$/.test(type)) return;
  throw fault("content_type_invalid", "a file's content type is a media type of at most 200 characters");
}

/** Says which bytes of a file of this size a range means. */
export function resolveRange(range: ByteRange, size: number): { readonly first: number; readonly last: number } {
  requireRange(range);
  if (range.first >= size) throw outside();
  return { first: range.first, last: Math.min(range.last ?? size - 1, size - 1) };
}

/** Refuses a range that no file could have. */
export function requireRange({ first, last = first }: ByteRange): void {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || first < 0 || last < first) throw outside();
}

/** A range that the file does not have. */
export function outside(): Fault {
  return fault("range_outside_file", "the file does not have the range of bytes that was asked for");
}
