const byteaOid = 17;
const textOid = 25;

/**
 * Writes a `bytea[]` parameter in the server's binary format. As text each byte would be two hex digits, which the server
 * reads three times. In an import that is more work than storing the rows.
 */
export function toByteaArray(elements: readonly (Uint8Array | null)[]): Buffer {
  return toArray(elements, {
    oid: byteaOid,
    lengthOf: ({ length }) => length,
    write: (array, element, at) => array.set(element, at),
  });
}

/** The same for `text[]`. As text, long elements that are full of quotes and backslashes take ten times as long to write. */
export function toTextArray(elements: readonly (string | null)[]): Buffer {
  return toArray(elements, {
    oid: textOid,
    lengthOf: (element) => Buffer.byteLength(element),
    write: (array, element, at) => array.write(element, at),
  });
}

function toArray<T extends string | Uint8Array>(
  elements: readonly (T | null)[],
  { oid, lengthOf, write }: ElementType<T>,
): Buffer {
  const lengths = elements.map((element) => (element === null ? -1 : lengthOf(element)));
  const size = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), 20);
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(elements.length === 0 ? 0 : 1, 0); // dimensions
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(oid, 8);
  if (elements.length === 0) return array.subarray(0, 12);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16); // the first subscript
  let at = 20;
  for (const [index, element] of elements.entries()) {
    const length = lengths[index] ?? -1;
    array.writeInt32BE(length, at);
    at += 4;
    if (element === null) continue;
    write(array, element, at);
    at += length;
  }
  return array;
}

interface ElementType<T> {
  readonly oid: number;
  readonly lengthOf: (element: T) => number;
  readonly write: (array: Buffer, element: T, at: number) => void;
}
