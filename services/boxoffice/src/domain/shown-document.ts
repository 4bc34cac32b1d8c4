/** A document as others may see it: without the note of what of it could not be read, which decides what is sold here. */
export function toShownDocument(document: string): Buffer {
  if (!document.includes('"unread"')) return Buffer.from(document);
  const { unread: _, ...shown } = JSON.parse(document) as Record<string, unknown>;
  return Buffer.from(JSON.stringify(shown));
}
