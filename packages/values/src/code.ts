/** Tells whether a text can be the short name of an organizer or event in a URL. */
export function isSlug(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(text);
}

/**
 * The largest id that records may bring along. Ids are exact in a `number` up to 2^53, so above an imported one there is
 * always room for eight million billion of our own.
 */
export const maxImportedId = 2 ** 50;
