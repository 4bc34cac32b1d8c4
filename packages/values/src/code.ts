/** What the short name of an organizer or event in a URL looks like. */
export const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/;

/** Whether a value can be such a name. */
export function isSlug(text: unknown): text is string {
  return typeof text === "string" && slugPattern.test(text);
}

/**
 * The largest id of an imported record. Ids are exact in a `number` up to 2^53, so above any imported id there is room for
 * eight million billion new ones.
 */
export const maxImportedId = 2 ** 50;

/** Lists, vouchers and positions that are made here have ids from this one on, and no others have. */
export const firstIdMadeHere = 1_000_000_000_001;

/** Whether a text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
