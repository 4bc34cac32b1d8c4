const byteaOid = 17;

/**
 * Writes a `bytea[]` parameter in the server's binary format. As text each byte would be two hex digits, which the server
 * reads three times. In an import that is more work than storing the rows.
 */
export function toByteaArray(elements: readonly (Uint8Array | null)[]): Buffer {
  const size = elements.reduce((sum, element) => sum + 4 + (element?.length ?? 0), 20);
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(elements.length === 0 ? 0 : 1, 0); // dimensions
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(byteaOid, 8);
  if (elements.length === 0) return array.subarray(0, 12);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16); // the first subscript
  let at = 20;
  for (const element of elements) {
    array.writeInt32BE(element === null ? -1 : element.length, at);
    at += 4;
    if (element === null) continue;
    array.set(element, at);
    at += element.length;
  }
  return array;
}
