import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import type { ByteRange } from "@tessera/kit/files/files";

const longestKey = 512;

/** Escaped, it is three times as long, which is still a valid file name. */
const longestSegment = 80;

/** Control characters, and the two that no XML can hold. */
const unprintable = /[\p{Cc}\uFFFE\uFFFF]/u;

export function isKey(key: string): boolean {
  if (!key.isWellFormed() || unprintable.test(key) || Buffer.byteLength(key) > longestKey) return false;
  return key
    .split("/")
    .every(
      (segment) =>
        segment !== "" && segment !== "." && segment !== ".." && Buffer.byteLength(segment) <= longestSegment,
    );
}

export function requireKey(key: string): void {
  if (isKey(key)) return;
  throw fault(
    "file_key_invalid",
    `a file's key has segments of 1 to ${longestSegment} bytes between slashes, ${longestKey} bytes in all, none of them . or .., without control characters`,
  );
}

export function requireContentType(type: string): void {
  if (type.length <= 200 && /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.-]+=[\w.+-]+)*$/.test(type)) return;
  throw fault("content_type_invalid", "a file's content type is a media type of at most 200 characters");
}

export function resolveRange(range: ByteRange, size: number): { readonly first: number; readonly last: number } {
  requireRange(range);
  if (range.first >= size) throw outside();
  return { first: range.first, last: Math.min(range.last ?? size - 1, size - 1) };
}

export function requireRange({ first, last = first }: ByteRange): void {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || first < 0 || last < first) throw outside();
}

export function outside(): Fault {
  return fault("range_outside_file", "the file does not have the range of bytes that was asked for");
}

/** The fault of a put whose stored part was removed before it had ended. */
export function removedMeanwhile(cause: unknown): Fault {
  const message = "the file was removed before all of it had arrived; send it again";
  return fault("files_unavailable", message, { retryAfterMs: 5000, cause });
}
