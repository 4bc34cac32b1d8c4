/** Tells whether a value can be the short name of an organizer or event in a URL. */
export function isSlug(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(text);
}

/**
 * The largest id that records may bring along. Ids are exact in a `number` up to 2^53, so above an imported one there is
 * always room for eight million billion of our own.
 */
export const maxImportedId = 2 ** 50;

/** Tells whether a text is a UUID as we write it: in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
