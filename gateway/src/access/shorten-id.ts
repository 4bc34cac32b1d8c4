/** Enough of the id of an API key to find it, and of a device all. The whole hash would allow tests of guessed tokens. */
const shownLength = 16;

/** Shortens the id of a credential to what may be shown. */
export function shortenId(id: string): string {
  return id.slice(0, shownLength);
}
